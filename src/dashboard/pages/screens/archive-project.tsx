/** Asks before a project is archived. */
import { useQueryClient } from '@tanstack/react-query'
import { call } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import type { Project } from '../types.ts'

const PATH = '/v1/organization/projects'

export function ArchiveProject({ project: { id, name }, onClose }: { project: Project; onClose(): void }) {
  const queries = useQueryClient()
  return (
    <Confirm
      title={`Archive ${name}?`}
      action="Archive project"
      run={() => call('POST', `${PATH}/${id}/archive`, {})}
      onDone={() => {
        for (const list of ['projects', PATH]) void queries.invalidateQueries({ queryKey: [list] })
      }}
      onClose={onClose}
    >
      All its keys are deactivated immediately and permanently. Its records are kept.
    </Confirm>
  )
}

/** The settings page: renames and archives a project, and shows its ID and plan. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sendRequest } from '../api.ts'
import { ActionButton } from '../components/actions.tsx'
import { Badge, Button, Card, ErrorMessage, PageHeader } from '../components/elements.tsx'
import { TextField } from '../components/fields.tsx'
import { useInvalidateQueries } from '../queries.ts'
import { hasRole, PROJECTS_PATH, useProject } from '../session.ts'
import type { Project } from '../types.ts'
import { ARCHIVE_PROJECT_ACTION } from './project-actions.tsx'

export default function ProjectSettings() {
  const project = useProject()
  return (
    <>
      <PageHeader title="Settings">
        Name, ID and plan of this project. Keys, the cache, models, limits and members have their own pages in the menu.
      </PageHeader>
      {project && (
        <div key={project.id} className="space-y-5">
          <NameAndPlan project={project} />
          {hasRole(project, 'owner') && project.status === 'active' && <Archive project={project} />}
        </div>
      )}
    </>
  )
}

function NameAndPlan({ project }: { project: Project }) {
  const [name, setName] = useState(project.name)
  const renaming = useMutation({
    mutationFn: () => sendRequest('POST', `${PROJECTS_PATH}/${project.id}`, { name }),
    onSuccess: useInvalidateQueries([PROJECTS_PATH]),
  })
  const canEdit = hasRole(project, 'owner')
  function submit(event: FormEvent) {
    event.preventDefault()
    renaming.mutate()
  }
  return (
    <Card title="Project" action={project.status === 'archived' && <Badge look="warn">Archived</Badge>}>
      <form onSubmit={submit} className="space-y-4 p-4">
        <TextField
          label="Name"
          required
          maxLength={63}
          autoComplete="off"
          disabled={!canEdit}
          hint="Letters, digits, dots, dashes and underscores."
          value={name}
          onChange={setName}
        />
        <dl className="grid gap-4 sm:grid-cols-2">
          <div>
            <dt className="text-xs text-muted">Project ID</dt>
            <dd className="font-mono text-xs">{project.id}</dd>
          </div>
          <div>
            <dt className="text-xs text-muted">Plan (set by administrators)</dt>
            <dd>{project.plan}</dd>
          </div>
        </dl>
        <ErrorMessage error={renaming.error} />
        {canEdit && (
          <div className="flex items-center justify-end gap-3">
            <span role="status" className="text-xs text-muted">
              {renaming.isSuccess && name === project.name ? 'Renamed.' : ''}
            </span>
            <Button type="submit" look="primary" disabled={name === project.name || renaming.isPending}>
              Rename
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}

function Archive({ project }: { project: Project }) {
  return (
    <Card title="Archive">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="text-muted">
          Deactivates all API keys of this project permanently. Its request records are kept.
        </p>
        <ActionButton
          action={{ ...ARCHIVE_PROJECT_ACTION, title: 'Archive project' }}
          subject={project}
          url={`${PROJECTS_PATH}/${project.id}`}
          refreshes={[PROJECTS_PATH]}
          look="danger"
        />
      </div>
    </Card>
  )
}

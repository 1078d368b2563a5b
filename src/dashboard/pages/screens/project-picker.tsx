/** The search for a project, which opens the same page of the chosen one. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { Picker } from '../components/picker.tsx'
import { searchNames } from '../components/picker-sources.ts'
import { useProjects } from '../session.ts'

/** `id` and `name` are those of the current project, if there is one. */
export default function ProjectPicker({ id, name }: { id: string | undefined; name: string }) {
  const { data: projects = [] } = useProjects()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  function open(project: string | undefined) {
    if (project === undefined) return
    const [page = 'overview', section = ''] = id === undefined ? [] : (pathname.split(`/${id}/`)[1]?.split('/') ?? [])
    void navigate({ to: `/${project}/${page === 'settings' ? `${page}/${section}` : page}` as never })
  }
  return (
    <Picker
      label="Project"
      placeholder="Choose a project"
      {...searchNames('project', null)}
      opensAtOnce
      values={id === undefined ? [] : [id]}
      nameOf={value => (value === id && name !== '' ? name : projects.find(project => project.id === value)?.name)}
      onChange={([chosen]) => open(chosen)}
    />
  )
}

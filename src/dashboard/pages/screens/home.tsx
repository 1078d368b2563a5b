/** The start page: opens a project, or asks for the first one to be created. */
import { Navigate } from '@tanstack/react-router'
import { Loading, PageHeader, Problem } from '../components/basics.tsx'
import { isAdministrator, lastProject, useProjects, useSession } from '../session.ts'
import { NewProject } from './new-project.tsx'

export function Home() {
  const { data, error } = useProjects()
  const session = useSession()
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading />
  const project = lastProject(data)
  if (project) return <Navigate to={`/${project.id}/overview` as never} replace />
  return isAdministrator(session.data) ? (
    <PageHeader title="No project yet" action={<NewProject />}>
      A project has keys, limits and a cache of its own. Create one for each application that should share nothing with
      the others.
    </PageHeader>
  ) : (
    <PageHeader title="You are not a member of any project">
      Ask an owner of a project, or an administrator, to add your e-mail address.
    </PageHeader>
  )
}

/** The start page: opens a project, or asks for the first one to be created. */
import { Navigate } from '@tanstack/react-router'
import { ActionButton } from '../components/actions.tsx'
import { ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
import { isAdministrator, PROJECTS_PATH, readLastProject, useProjects, useSession } from '../session.ts'
import { useCreateProjectAction } from './project-actions.tsx'

export default function HomePage() {
  const { data, error } = useProjects()
  const session = useSession()
  if (error) return <ErrorMessage error={error} />
  if (data === undefined) return <Loading />
  const project = readLastProject(data)
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

function NewProject() {
  return (
    <ActionButton
      action={useCreateProjectAction()}
      subject={null}
      address={PROJECTS_PATH}
      refreshes={[PROJECTS_PATH]}
      look="primary"
    />
  )
}

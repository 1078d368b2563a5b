/** The start page: redirects to the last opened project, or offers to create the first one. */
import { Navigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { PageHeader, Pending } from '../components/elements.tsx'
import { isAdministrator, readLastProject, useProjects, useSession } from '../session.ts'

/** Most visits are redirected, and load faster without the dialog. */
const CreateProjectButton = lazy(async () => ({
  default: (await import('./project-actions.tsx')).CreateProjectButton,
}))

export default function HomePage() {
  const { data, error } = useProjects()
  const session = useSession()
  if (data === undefined) return <Pending error={error} />
  const project = readLastProject(data)
  if (project) return <Navigate to={`/${project.id}/overview` as never} replace />
  return isAdministrator(session.data) ? (
    <PageHeader
      title="No projects yet"
      action={
        <Suspense>
          <CreateProjectButton />
        </Suspense>
      }
    >
      A project has its own API keys, limits and cache. Create a separate project for each application.
    </PageHeader>
  ) : (
    <PageHeader title="You are not a member of any project">
      Ask a project owner or an administrator to add you.
    </PageHeader>
  )
}

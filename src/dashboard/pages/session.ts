/** The session of the logged-in user, and the projects that the user can see. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError, fetchJson, sendRequest, setCsrfToken } from './api.ts'
import { useRows } from './queries.ts'
import type { ApiKey, Project, Session } from './types.ts'

const LAST_PROJECT = 'model-proxy-project'
export const PROJECTS_PATH = '/v1/organization/projects'

export function useSession() {
  return useQuery({
    queryKey: ['session'],
    queryFn: async () => {
      try {
        const session = await fetchJson<Session>('/dashboard/api/session')
        setCsrfToken(session.csrf_token)
        return session
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null
        throw error
      }
    },
    staleTime: 60_000,
    // The user may have logged out, or in again, in another window.
    refetchOnWindowFocus: 'always',
    retry: 2,
  })
}

export function isAdministrator(session: Session | null | undefined): boolean {
  return session?.user.role === 'owner'
}

export function useProjects() {
  return useRows<Project>(PROJECTS_PATH, { limit: 100 }, { staleTime: 30_000 })
}

/** Returns the project in the URL; null while it is loading, if it does not exist, or if the user may not see it. */
export function useProject(): Project | null {
  return useProjectQuery().data ?? null
}

/** Looks up the project in the URL. A project that is not in the list, such as an archived one, is fetched by itself. */
export function useProjectQuery() {
  const { project: id } = useParams({ strict: false })
  const { data: projects } = useProjects()
  const listed = projects?.find(project => project.id === id)
  const unlisted = useQuery<Project>({
    queryKey: [`${PROJECTS_PATH}/${id}`],
    enabled: id !== undefined && projects !== undefined && !listed,
    staleTime: 30_000,
    // The error page uses this query too. A retry on mount would repeat the request without end.
    retryOnMount: false,
  })
  return { data: listed ?? unlisted.data, isUnknown: !listed && unlisted.isError }
}

/** Returns an API path below the project's path; null while the project is loading. */
export function useProjectPath(subpath: string): string | null {
  const project = useProject()
  return project && `${PROJECTS_PATH}/${project.id}/${subpath}`
}

export const MAX_LISTED_KEYS = 100

/** Returns the first hundred keys of a project, including inactive ones; undefined while they are loading. */
export function useAllKeys(projectId: string | undefined): readonly ApiKey[] | undefined {
  const query = { include_inactive: true, limit: MAX_LISTED_KEYS }
  return useRows<ApiKey>(`${PROJECTS_PATH}/${projectId}/api_keys`, query, { enabled: projectId !== undefined }).data
}

const RANKS = ['viewer', 'member', 'owner']

/** Reports whether the user's role is sufficient. This only hides controls; the server enforces roles. */
export function hasRole(project: Project | null, required: Project['your_role']): boolean {
  return project !== null && RANKS.indexOf(project.your_role) >= RANKS.indexOf(required)
}

export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT, id)
}

export function readLastProject(projects: readonly Project[]): Project | undefined {
  const id = localStorage.getItem(LAST_PROJECT)
  return projects.find(project => project.id === id) ?? projects[0]
}

export async function logOut(everywhere: boolean): Promise<void> {
  await sendRequest('POST', everywhere ? '/dashboard/api/logout-everywhere' : '/dashboard/api/logout', {})
  // A full page load, so that no data of this session stays in memory.
  window.location.assign('/dashboard')
}

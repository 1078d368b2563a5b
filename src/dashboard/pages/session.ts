/** The session: the user, and the projects they can see. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError, fetchJson, sendRequest, setCsrfToken } from './api.ts'
import type { ApiKey, ApiPage, Project, Session } from './types.ts'

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
    // Another window may have logged out, or in again.
    refetchOnWindowFocus: 'always',
    retry: 2,
  })
}

export function isAdministrator(session: Session | null | undefined): boolean {
  return session?.user.role === 'owner'
}

export function useProjects() {
  return useQuery<ApiPage<Project>, Error, Project[]>({
    queryKey: [PROJECTS_PATH, { limit: 100 }],
    select: page => page.data,
    staleTime: 30_000,
  })
}

/** The project in the URL; null while it is not known, or when it does not exist or the user cannot see it. */
export function useProject(): Project | null {
  return useProjectQuery().data ?? null
}

/** The project in the URL: of the list, or asked for when it is not there, as archived ones are. */
export function useProjectQuery() {
  const { project: id } = useParams({ strict: false })
  const { data: projects } = useProjects()
  const listed = projects?.find(project => project.id === id)
  const unlisted = useQuery<Project>({
    queryKey: [`${PROJECTS_PATH}/${id}`],
    enabled: id !== undefined && projects !== undefined && !listed,
    staleTime: 30_000,
    // What says that there is none asks for it, too, and would ask without end.
    retryOnMount: false,
  })
  return { data: listed ?? unlisted.data, isUnknown: !listed && unlisted.isError }
}

/** An address of the API below the project's own; null while that is not known. */
export function useProjectPath(below: string): string | null {
  const project = useProject()
  return project && `${PROJECTS_PATH}/${project.id}/${below}`
}

export const MAX_LISTED_KEYS = 100

/** A project's keys for a choice, those that are no longer valid too: the first hundred; undefined while they are not known. */
export function useAllKeys(projectId: string | undefined): readonly ApiKey[] | undefined {
  const { data } = useQuery<ApiPage<ApiKey>>({
    queryKey: [`${PROJECTS_PATH}/${projectId}/api_keys`, { include_inactive: true, limit: MAX_LISTED_KEYS }],
    enabled: projectId !== undefined,
  })
  return data?.data
}

const RANKS = ['viewer', 'member', 'owner']

/** Whether the role suffices. This only hides controls: the server checks again. */
export function hasRole(project: Project | null, needed: Project['your_role']): boolean {
  return project !== null && RANKS.indexOf(project.your_role) >= RANKS.indexOf(needed)
}

export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT, id)
}

export function readLastProject(projects: readonly Project[]): Project | undefined {
  const kept = localStorage.getItem(LAST_PROJECT)
  return projects.find(project => project.id === kept) ?? projects[0]
}

export async function logOut(everywhere: boolean): Promise<void> {
  await sendRequest('POST', everywhere ? '/dashboard/api/logout-everywhere' : '/dashboard/api/logout', {})
  // A full page load, so that no data of this session stays in memory.
  window.location.assign('/dashboard')
}

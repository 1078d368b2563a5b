/** Who would answer a project's models, as the proxy itself plans it. */
import { useQuery } from '@tanstack/react-query'
import { get } from './api.ts'
import type { Page, Route } from './types.ts'

export interface RouteQuery {
  key_type?: 'project' | 'test'
  /** These models, instead of all that the project can use. */
  'models[]'?: readonly string[]
  /** The models that this provider has, under their native names. */
  native_to?: string
  /** As if the project had keys for these providers; one empty name stands for none. */
  'provider_keys[]'?: readonly string[]
}

export function useRoutes(projectId: string, query: RouteQuery, enabled = true) {
  const path = `/v1/organization/projects/${projectId}/routes`
  return useQuery({
    queryKey: ['routes', projectId, query],
    queryFn: () => get<Page<Route>>(path, { ...query }).then(page => page.data),
    enabled,
  })
}

/** The routes of a project's models: the provider of each, as the proxy itself resolves it. */
import { useRows } from './queries.ts'
import type { Route } from './types.ts'

export interface RouteQuery {
  key_type?: 'project' | 'test'
  /** Limits the routes to these models. By default, all models that the project can use are listed. */
  'models[]'?: readonly string[]
  /** Lists the models of this provider under their native names. */
  native_to?: string
  /** Resolves the routes as if the project had keys for these providers only. One empty name means no keys. */
  'provider_keys[]'?: readonly string[]
}

export function useModelRoutes(projectId: string, query: RouteQuery, enabled = true) {
  return useRows<Route>(`/v1/organization/projects/${projectId}/routes`, { ...query }, { enabled })
}

/** Inexpensive models, preselected if they are available. */
const PREFERRED = ['openai/gpt-4o-mini', 'gpt-4o-mini']

/** Returns the chat models that have a provider, and the chosen or a default one. The default differs from `beside` if possible. */
export function chooseRoute(
  routes: readonly Route[],
  chosen: string | null,
  beside?: string,
): { usable: Route[]; route?: Route } {
  const usable = routes.filter(({ kind, provider }) => kind === 'chat' && provider !== null)
  const others = usable.filter(({ id }) => id !== beside)
  const route =
    usable.find(({ id }) => id === chosen) ??
    others.find(({ id }) => PREFERRED.includes(id)) ??
    others.at(0) ??
    usable.at(0)
  return { usable, ...(route && { route }) }
}

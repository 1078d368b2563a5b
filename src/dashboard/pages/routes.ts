/** Who would answer a project's models, as the proxy itself plans it. */
import { useQuery } from '@tanstack/react-query'
import type { ApiPage, Route } from './types.ts'

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
  return useQuery<ApiPage<Route>, Error, Route[]>({ queryKey: [path, query], select: page => page.data, enabled })
}

/** Shown first, where they can be reached: they cost little. */
const PREFERRED = ['openai/gpt-4o-mini', 'gpt-4o-mini']

/** The chat models that somebody would answer, and the chosen one among them, or one to begin with: another than `beside`, if there is one. */
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

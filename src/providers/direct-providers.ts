/** Direct providers as a project reaches them: with its own stored key, opened when it is needed and held briefly. */
import type { DirectProvider } from '../config.ts'
import { ProxyError } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'
import type { KeyOwner } from './keys/seal.ts'
import { createRecentMap } from './recent-map.ts'
import type { Provider } from './upstream.ts'

export interface DirectProviders {
  /** The provider with the project's key of this moment. Opening it is left to the first request that gets that far. */
  of(name: DirectProvider, account: Pick<Account, 'project_id' | 'provider_keys_version'>): Provider
  close(): void
}

export interface DirectProvidersOptions {
  /** Throws where the key cannot be opened; null where it was removed. */
  openKey(owner: KeyOwner): Promise<string | null>
  /** The provider itself, for one key. */
  connect(name: DirectProvider, apiKey: string, projectId: number): Provider
  /** What stands between requests and it: retries, a circuit. */
  protect(provider: Provider, owner: KeyOwner): Provider
}

/** How long an opened key stays in memory; then it is opened again. */
const HOLD_MS = 60_000
const SWEEP_EVERY_MS = 15_000
const MAX_ROUTES = 30_000

/** One project's way to one provider under one version of its keys. */
interface Route {
  version: number
  provider: Provider
  drop(): void
}

export function createDirectProviders({ openKey, connect, protect }: DirectProvidersOptions): DirectProviders {
  const routes = createRecentMap<Route>(MAX_ROUTES)
  const held = new Map<Route, number>()

  function createRoute(name: DirectProvider, projectId: number, version: number): Route {
    const owner = { projectId, provider: name }
    let opened: Promise<Provider> | null = null

    function open(): Promise<Provider> {
      if (opened) return opened
      const opening = openKey(owner).then(apiKey => {
        if (apiKey === null) throw keyRemoved(name)
        return connect(name, apiKey, projectId)
      })
      opened = opening
      held.set(route, performance.now() + HOLD_MS)
      opening.catch(drop)
      return opening
    }

    function drop(): void {
      opened = null
      held.delete(route)
    }

    const withKey: Provider = {
      name,
      kind: name,
      pricedAs: name,
      ask: async request => (await open()).ask(request),
    }
    const route: Route = { version, provider: protect(withKey, owner), drop }
    return route
  }

  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [route, untilMs] of held) if (untilMs <= now) route.drop()
  }, SWEEP_EVERY_MS)
  sweep.unref()

  return {
    of(name, { project_id, provider_keys_version }) {
      const at = `${name} ${project_id}`
      const known = routes.get(at)
      // Versions only grow: what was remembered before the last change must not bring an older key back.
      if (known && known.version >= provider_keys_version) return known.provider
      known?.drop()
      const route = createRoute(name, project_id, provider_keys_version)
      routes.set(at, route)
      return route.provider
    },
    close: () => clearInterval(sweep),
  }
}

function keyRemoved(name: DirectProvider): ProxyError {
  return new ProxyError({
    status: 404,
    code: 'model_not_found',
    message: `The project's ${name} key has just been removed.`,
    param: 'model',
  })
}

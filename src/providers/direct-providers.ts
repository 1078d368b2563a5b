/** Direct providers as a project reaches them: with its own stored key, decrypted when needed and cached briefly. */
import { LRUCache } from 'lru-cache'
import type { DirectProvider } from '../config.ts'
import { refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'
import type { KeyOwner } from './keys/seal.ts'
import type { Endpoint, PassedRequest, Provider, StoredRequest, UpstreamAnswer } from './upstream.ts'

export interface DirectProviders {
  /** Returns the provider with the project's current key. The key is decrypted on the first request. */
  of(name: DirectProvider, account: Pick<Account, 'project_id' | 'provider_keys_version'>): Provider
  close(): void
}

export interface DirectProvidersOptions {
  /** Throws when the key cannot be decrypted; null when it was removed. */
  openKey(owner: KeyOwner): Promise<string | null>
  /** Creates the provider itself for one key. */
  connect(name: DirectProvider, apiKey: string, projectId: number): Provider
  /** Adds retries and a circuit. */
  protect(provider: Provider, owner: KeyOwner): Provider
}

/** What each has besides chat; the rest is translated. */
export const DIRECT_HAS: Record<DirectProvider, readonly Endpoint[]> = {
  openai: ['responses'],
  anthropic: ['messages'],
  groq: [],
}

/** How long a decrypted key stays in memory. */
const HOLD_MS = 60_000
const MAX_ROUTES = 30_000

/** One project's route to one provider, for one version of its keys. */
interface Route {
  version: number
  provider: Provider
  forgetKey(): void
}

export function createDirectProviders({ openKey, connect, protect }: DirectProvidersOptions): DirectProviders {
  // Every route has size 1. With `max` instead, the library would allocate room for all routes at each start.
  const bound = { maxSize: MAX_ROUTES, sizeCalculation: () => 1 }
  const routes = new LRUCache<string, Route>(bound)
  /** Providers with decrypted keys. A timer removes each one, whether or not it is used again. */
  const opened = new LRUCache<Provider, Promise<Provider>>({
    ...bound,
    ttl: HOLD_MS,
    ttlAutopurge: true,
    // Looked up at each call, so that a test can set it.
    perf: { now: () => performance.now() },
  })

  function createRoute(name: DirectProvider, projectId: number, version: number): Route {
    const owner = { projectId, provider: name }

    function open(): Promise<Provider> {
      const held = opened.get(withKey)
      if (held) return held
      const opening = openKey(owner).then(apiKey => {
        if (apiKey === null) throw refuse('providerKeyRemoved', { provider: name })
        return connect(name, apiKey, projectId)
      })
      opened.set(withKey, opening)
      opening.catch(() => opened.delete(withKey))
      return opening
    }

    const withKey: Provider = {
      name,
      kind: name,
      pricedAs: name,
      has: DIRECT_HAS[name],
      ask: async request => (await open()).ask(request),
      pass: async request => passTo(await open(), request),
      ...(KEEPERS.has(name) ? { askStored: async (request: StoredRequest) => askKeeper(await open(), request) } : {}),
    }
    return { version, provider: protect(withKey, owner), forgetKey: () => opened.delete(withKey) }
  }

  return {
    of(name, { project_id, provider_keys_version }) {
      const at = `${name} ${project_id}`
      const known = routes.get(at)
      // Versions only grow: an account read before the last change must not bring an older key back.
      if (known && known.version >= provider_keys_version) return known.provider
      known?.forgetKey()
      const route = createRoute(name, project_id, provider_keys_version)
      routes.set(at, route)
      return route.provider
    },
    close: () => opened.clear(),
  }
}

/** Providers whose responses can be fetched later by id. */
const KEEPERS: ReadonlySet<DirectProvider> = new Set(['openai'])

function passTo({ name, pass }: Provider, request: PassedRequest): Promise<UpstreamAnswer> {
  if (!pass) throw refuse('pathUnsupported', { vendor: name, path: request.path })
  return pass(request)
}

function askKeeper({ name, askStored }: Provider, request: StoredRequest): Promise<UpstreamAnswer> {
  if (!askStored) throw new Error(`${name} keeps no answers`)
  return askStored(request)
}

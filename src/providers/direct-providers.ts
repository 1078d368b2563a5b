/** Creates direct providers for a project, which use the project's own stored keys. Keys are decrypted when needed and cached briefly. */
import { LRUCache } from 'lru-cache'
import { type DirectProvider, mapVendors } from '../config/vendors.ts'
import { createError } from '../errors/errors.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { SealContext } from '../stores/seal.ts'
import { balanceKeys, PROVIDER_KEY_HEADER, type WeightedKey } from './balance-keys.ts'
import {
  type Endpoint,
  type PassThroughRequest,
  type Provider,
  type StorageRequest,
  type UpstreamResponse,
  wrapProvider,
} from './upstream.ts'

/** The fields of a resolved key that decide which provider keys are used. */
type ProviderKeyFields = Pick<ResolvedKey, 'project_id' | 'provider_keys_version' | 'named_provider_keys'>

export interface DirectProviders {
  /** Returns the provider with the project's current keys. A key is decrypted on the first request. */
  resolve(name: DirectProvider, resolvedKey: ProviderKeyFields): Provider
  close(): void
}

export interface DirectProvidersOptions {
  /** Returns the key in plain text; null when it was removed. Throws when it cannot be decrypted. `name` is null for a project's only key. */
  decryptKey(owner: SealContext, name: string | null): Promise<string | null>
  /** Creates the provider itself for one key. */
  connect(name: DirectProvider, apiKey: string, projectId: number): Provider
  /** Adds a circuit: one for the key if it has a name, else one for the project. */
  protect(provider: Provider, owner: SealContext, key?: string): Provider
  /** Adds retries. */
  retry(provider: Provider): Provider
  /** Called when the provider rejected a key, which is not used for `cooldownMs`. */
  onKeyCooldown(owner: SealContext, key: string, status: number, cooldownMs: number): void
}

/** The endpoints besides chat that each provider supports natively. All others are translated. */
export const NATIVE_ENDPOINTS = mapVendors(({ endpoints }): readonly Endpoint[] =>
  endpoints.filter(isTranslatableEndpoint),
)

/** How long a decrypted key stays in memory. */
const HOLD_MS = 60_000
const MAX_ROUTES = 30_000

/** One project's route to one provider, for one version of its keys. */
interface Route {
  version: number
  provider: Provider
  /** The provider with each of the keys, which are decrypted on demand. */
  lazy: readonly Provider[]
}

export function createDirectProviders(options: DirectProvidersOptions): DirectProviders {
  const { decryptKey, connect, protect, retry } = options
  // Every route has size 1. With `max` instead, the library would allocate memory for all routes at each start.
  const capacity = { maxSize: MAX_ROUTES, sizeCalculation: () => 1 }
  const routes = new LRUCache<string, Route>(capacity)
  /** Providers with decrypted keys. A timer removes each one, whether or not it is used again. */
  const opened = new LRUCache<Provider, Promise<Provider>>({
    ...capacity,
    ttl: HOLD_MS,
    ttlAutopurge: true,
    // `performance.now` is looked up at each call, so that tests can replace it.
    perf: { now: () => performance.now() },
  })

  /** Returns the provider with one key, which is decrypted on the first request. */
  function createLazyProvider(owner: SealContext & { provider: DirectProvider }, key: string | null): Provider {
    const { provider: name, projectId } = owner

    function open(): Promise<Provider> {
      const cached = opened.get(lazy)
      if (cached) return cached
      const opening = decryptKey(owner, key).then(apiKey => {
        if (apiKey === null) throw createError('providerKeyRemoved', { provider: name })
        return connect(name, apiKey, projectId)
      })
      opened.set(lazy, opening)
      opening.catch(() => opened.delete(lazy))
      return opening
    }

    const lazy: Provider = {
      name,
      kind: name,
      pricedAs: name,
      nativeEndpoints: NATIVE_ENDPOINTS[name],
      send: async request => (await open()).send(request),
      passThrough: async request => forwardPassThrough(await open(), request),
      ...(name === 'openai' && createOpenAiOperations(open)),
    }
    return lazy
  }

  function createRoute(name: DirectProvider, resolvedKey: ProviderKeyFields): Route {
    const { project_id: projectId, provider_keys_version: version, named_provider_keys: namedKeys } = resolvedKey
    const owner = { projectId, provider: name }
    const keys = parseNamedKeys(namedKeys, name)
    if (keys.length === 0) {
      const lazy = createLazyProvider(owner, null)
      return { version, provider: retry(protect(lazy, owner)), lazy: [lazy] }
    }
    const weighted = keys.map(key => ({ ...key, provider: createLazyProvider(owner, key.name) }))
    return { version, provider: joinKeys(weighted, owner, options), lazy: weighted.map(({ provider }) => provider) }
  }

  return {
    resolve(name, resolvedKey) {
      const { project_id, provider_keys_version, named_provider_keys } = resolvedKey
      // Some callers, such as the judge, pass no named keys: those routes are separate.
      const routeKey = `${name} ${project_id} ${named_provider_keys?.join() ?? ''}`
      const known = routes.get(routeKey)
      // Versions only grow. A resolved key that was read before the last change must not restore an older provider key.
      if (known && known.version >= provider_keys_version) return known.provider
      for (const lazy of known?.lazy ?? []) opened.delete(lazy)
      const route = createRoute(name, resolvedKey)
      routes.set(routeKey, route)
      return route.provider
    },
    close: () => opened.clear(),
  }
}

function forwardPassThrough({ name, passThrough }: Provider, request: PassThroughRequest): Promise<UpstreamResponse> {
  if (!passThrough) throw createError('pathUnsupported', { vendor: name, path: request.path })
  return passThrough(request)
}

/** Returns the operations that only OpenAI's provider has. */
function createOpenAiOperations(open: () => Promise<Provider>): Pick<Provider, 'sendStored' | 'resolveRealtime'> {
  return {
    sendStored: async request => requireOperation(await open(), 'sendStored')(request),
    resolveRealtime: async request => requireOperation(await open(), 'resolveRealtime')(request),
  }
}

function requireOperation<Name extends 'sendStored' | 'resolveRealtime'>(
  provider: Provider,
  name: Name,
): NonNullable<Provider[Name]> {
  const operation = provider[name]
  if (!operation) throw new Error(`provider ${provider.name} has no operation ${name}`)
  return operation
}

/** Returns the project's keys for the provider, from entries `provider/name/weight`; empty when its only key has no name. */
function parseNamedKeys(namedKeys: readonly string[] | null, provider: DirectProvider) {
  if (namedKeys === null) return []
  return namedKeys.flatMap(entry => {
    const [keyProvider, name = '', weight] = entry.split('/')
    return keyProvider === provider ? [{ name, weight: Number(weight) }] : []
  })
}

/** Joins several keys into one provider. Each key has a circuit of its own. */
function joinKeys(
  keys: readonly WeightedKey[],
  owner: SealContext,
  { protect, retry, onKeyCooldown }: DirectProvidersOptions,
): Provider {
  const named = keys.map(key => ({ ...key, provider: withKeyName(protect(key.provider, owner, key.name), key.name) }))
  const byName = new Map(named.map(key => [key.name, retry(key.provider)]))
  const balanced = retry(balanceKeys(named, (key, status, cooldownMs) => onKeyCooldown(owner, key, status, cooldownMs)))
  const joined: Provider = { ...balanced, withKey: key => byName.get(key) ?? joined }
  return joined
}

/** Adds the name of the key to each response. Objects that were created with a key can only be requested with that key. */
function withKeyName(provider: Provider, key: string): Provider {
  const { sendStored } = provider
  async function addKeyName(pending: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
    const response = await pending
    response.headers.set(PROVIDER_KEY_HEADER, key)
    response.attemptedKeys = [key]
    return response
  }
  return {
    ...wrapProvider(provider, send => addKeyName(send())),
    ...(sendStored && { sendStored: (request: StorageRequest) => addKeyName(sendStored(request)) }),
  }
}

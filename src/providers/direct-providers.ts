/** Creates direct providers for a project, which use the project's own stored keys. Keys are decrypted when needed and cached briefly. */
import { LRUCache } from 'lru-cache'
import type { Vendor } from '../config/vendors.ts'
import { createError } from '../errors/errors.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { SealContext } from '../stores/seal.ts'
import { withAttempts } from './attempts.ts'
import { balanceKeys, type WeightedKey } from './balance-keys.ts'
import type { Endpoint, PassThroughRequest, Provider, UpstreamResponse } from './upstream.ts'

/** The fields of a resolved key that decide which provider keys are used. */
type ProviderKeyFields = Pick<ResolvedKey, 'project_id' | 'provider_keys_version' | 'named_provider_keys'>

export interface DirectProviders {
  /** Returns the vendor as a provider with the project's current keys. A key is decrypted on the first request. Throws for an unknown vendor. */
  resolve(name: string, resolvedKey: ProviderKeyFields): Provider
  close(): void
}

export interface DirectProvidersOptions {
  /** Returns the vendor as last read; undefined when it was removed. */
  findVendor(name: string): Vendor | undefined
  /** Returns the key in plain text; null when it was removed. Throws when it cannot be decrypted. `name` is null for a project's only key. */
  decryptKey(owner: SealContext, name: string | null): Promise<string | null>
  /** Creates the provider itself for one key. */
  connect(vendor: Vendor, apiKey: string, projectId: number): Provider
  /** Adds a circuit: one for the key if it has a name, else one for the project. */
  protect(provider: Provider, owner: SealContext, key?: string): Provider
  /** Adds retries. */
  retry(provider: Provider): Provider
  /** Called when the provider rejected a key, which is not used for `cooldownMs`. */
  onKeyCooldown(owner: SealContext, key: string, status: number, cooldownMs: number): void
}

/** Returns the endpoints besides chat that the vendor supports natively. All others are translated. */
export function nativeEndpointsOf({ endpoints }: Pick<Vendor, 'endpoints'>): readonly Endpoint[] {
  return endpoints.filter(isTranslatableEndpoint)
}

/**
 * Returns the client's headers that are forwarded to the vendor. OpenAI's organization and project, and Anthropic's workspace, belong to the
 * provider key, which is always the project's own for these vendors.
 */
export function clientHeadersOf({ headers }: Pick<Vendor, 'headers'>): readonly string[] {
  return headers.map(name => name.toLowerCase()).sort()
}

/** How long a decrypted key stays in memory. */
const HOLD_MS = 60_000
const MAX_ROUTES = 30_000

/** One project's route to one vendor, for one version of its row and of its keys. */
interface Route {
  vendor: Vendor
  version: number
  provider: Provider
  /** The provider with each of the keys, which are decrypted on demand. */
  lazy: readonly Provider[]
}

// Every entry has size 1. With `max` instead, the library would allocate memory for all entries at each start.
const CAPACITY = { maxSize: MAX_ROUTES, sizeCalculation: () => 1 }

export function createDirectProviders(options: DirectProvidersOptions): DirectProviders {
  const { findVendor, protect, retry } = options
  const routes = new LRUCache<string, Route>(CAPACITY)
  const keyed = createKeyedProviders(options)

  function createRoute(vendor: Vendor, resolvedKey: ProviderKeyFields): Route {
    const { name } = vendor
    const { project_id: projectId, provider_keys_version: version, named_provider_keys: namedKeys } = resolvedKey
    const owner = { projectId, provider: name }
    const keys = parseNamedKeys(namedKeys, name)
    if (keys.length === 0) {
      const lazy = keyed.create(vendor, owner, null)
      return { vendor, version, provider: retry(withAttempts(protect(lazy, owner), null)), lazy: [lazy] }
    }
    const weighted = keys.map(key => ({ ...key, provider: keyed.create(vendor, owner, key.name) }))
    const lazy = weighted.map(({ provider }) => provider)
    return { vendor, version, provider: joinKeys(weighted, owner, options), lazy }
  }

  return {
    resolve(name, resolvedKey) {
      const { project_id, provider_keys_version, named_provider_keys } = resolvedKey
      const vendor = findVendor(name)
      if (!vendor) throw new Error(`vendor ${name} does not exist`)
      // Some callers, such as the judge, pass no named keys: those routes are separate.
      const routeKey = `${name} ${project_id} ${named_provider_keys?.join() ?? ''}`
      const known = routes.get(routeKey)
      // Versions only grow. A resolved key that was read before the last change must not restore an older provider key.
      if (known?.vendor === vendor && known.version >= provider_keys_version) return known.provider
      for (const lazy of known?.lazy ?? []) keyed.forget(lazy)
      const route = createRoute(vendor, resolvedKey)
      routes.set(routeKey, route)
      return route.provider
    },
    close: keyed.clear,
  }
}

/** Creates providers with one key each, which is decrypted on the first request and then held for a while. */
function createKeyedProviders({ decryptKey, connect }: Pick<DirectProvidersOptions, 'decryptKey' | 'connect'>) {
  /** Providers with decrypted keys. A timer removes each one, whether or not it is used again. */
  const opened = new LRUCache<Provider, Promise<Provider>>({
    ...CAPACITY,
    ttl: HOLD_MS,
    ttlAutopurge: true,
    // `performance.now` is looked up at each call, so that tests can replace it.
    perf: { now: () => performance.now() },
  })

  function create(vendor: Vendor, owner: SealContext, key: string | null): Provider {
    const { name } = vendor

    function open(): Promise<Provider> {
      const cached = opened.get(lazy)
      if (cached) return cached
      const opening = decryptKey(owner, key).then(apiKey => {
        if (apiKey === null) throw createError('providerKeyRemoved', { provider: name })
        return connect(vendor, apiKey, owner.projectId)
      })
      opened.set(lazy, opening)
      opening.catch(() => opened.delete(lazy))
      return opening
    }

    const lazy: Provider = {
      name,
      kind: name,
      pricedAs: name,
      clientHeaders: clientHeadersOf(vendor),
      nativeEndpoints: nativeEndpointsOf(vendor),
      send: async request => (await open()).send(request),
      passThrough: async request => forwardPassThrough(await open(), request),
      ...(name === 'openai' && createOpenAiOperations(open)),
    }
    return lazy
  }

  return { create, forget: (lazy: Provider) => void opened.delete(lazy), clear: () => opened.clear() }
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
function parseNamedKeys(namedKeys: readonly string[] | null, provider: string) {
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
  const named = keys.map(key => ({ ...key, provider: withAttempts(protect(key.provider, owner, key.name), key.name) }))
  const byName = new Map(named.map(key => [key.name, retry(key.provider)]))
  const balanced = retry(balanceKeys(named, (key, status, cooldownMs) => onKeyCooldown(owner, key, status, cooldownMs)))
  const joined: Provider = { ...balanced, withKey: key => byName.get(key) ?? joined }
  return joined
}

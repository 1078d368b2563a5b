/** Direct providers as a project reaches them: with its own stored key, decrypted when needed and cached briefly. */
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

/** The fields of an account that decide which keys are used. */
type Keyed = Pick<ResolvedKey, 'project_id' | 'provider_keys_version' | 'named_provider_keys'>

export interface DirectProviders {
  /** Returns the provider with the project's current keys. A key is decrypted on the first request. */
  resolve(name: DirectProvider, account: Keyed): Provider
  close(): void
}

export interface DirectProvidersOptions {
  /** Throws when the key cannot be decrypted; null when it was removed. `name` is null for the only one. */
  decryptKey(owner: SealContext, name: string | null): Promise<string | null>
  /** Creates the provider itself for one key. */
  connect(name: DirectProvider, apiKey: string, projectId: number): Provider
  /** Adds a circuit, of the key if it has a name. */
  protect(provider: Provider, owner: SealContext, key?: string): Provider
  /** Adds retries. */
  retry(provider: Provider): Provider
  /** The provider has refused the key, which rests. */
  onKeyCooldown(owner: SealContext, key: string, status: number, restMs: number): void
}

/** What each has besides chat; the rest is translated. */
export const NATIVE_ENDPOINTS = mapVendors(({ endpoints }): readonly Endpoint[] =>
  endpoints.filter(isTranslatableEndpoint),
)

/** How long a decrypted key stays in memory. */
const HOLD_MS = 60_000
const MAX_ROUTES = 30_000

/** One project's way to one provider, for one version of its keys. */
interface Route {
  version: number
  provider: Provider
  /** Each of its keys, which may be open. */
  locked: readonly Provider[]
}

export function createDirectProviders(options: DirectProvidersOptions): DirectProviders {
  const { decryptKey, connect, protect, retry } = options
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

  /** The provider with one key, which is opened when it is first asked. */
  function lock(owner: SealContext & { provider: DirectProvider }, key: string | null): Provider {
    const { provider: name, projectId } = owner

    function open(): Promise<Provider> {
      const held = opened.get(locked)
      if (held) return held
      const opening = decryptKey(owner, key).then(apiKey => {
        if (apiKey === null) throw createError('providerKeyRemoved', { provider: name })
        return connect(name, apiKey, projectId)
      })
      opened.set(locked, opening)
      opening.catch(() => opened.delete(locked))
      return opening
    }

    const locked: Provider = {
      name,
      kind: name,
      pricedAs: name,
      nativeEndpoints: NATIVE_ENDPOINTS[name],
      send: async request => (await open()).send(request),
      passThrough: async request => passTo(await open(), request),
      ...(name === 'openai' && askOpenAi(open)),
    }
    return locked
  }

  function createRoute(name: DirectProvider, account: Keyed): Route {
    const { project_id: projectId, provider_keys_version: version, named_provider_keys: named } = account
    const owner = { projectId, provider: name }
    const keys = readKeys(named, name)
    if (keys.length === 0) {
      const locked = lock(owner, null)
      return { version, provider: retry(protect(locked, owner)), locked: [locked] }
    }
    const locked = keys.map(key => ({ ...key, provider: lock(owner, key.name) }))
    return { version, provider: joinKeys(locked, owner, options), locked: locked.map(({ provider }) => provider) }
  }

  return {
    resolve(name, account) {
      const { project_id, provider_keys_version } = account
      // The judge, for one, asks without regard to names.
      const at = `${name} ${project_id} ${account.named_provider_keys?.join() ?? ''}`
      const known = routes.get(at)
      // Versions only grow: an account read before the last change must not bring an older key back.
      if (known && known.version >= provider_keys_version) return known.provider
      for (const locked of known?.locked ?? []) opened.delete(locked)
      const route = createRoute(name, account)
      routes.set(at, route)
      return route.provider
    },
    close: () => opened.clear(),
  }
}

function passTo({ name, passThrough }: Provider, request: PassThroughRequest): Promise<UpstreamResponse> {
  if (!passThrough) throw createError('pathUnsupported', { vendor: name, path: request.path })
  return passThrough(request)
}

/** What OpenAI's provider has, and others lack. */
function askOpenAi(open: () => Promise<Provider>): Pick<Provider, 'sendStored' | 'resolveRealtime'> {
  return {
    sendStored: async request => needed(await open(), 'sendStored')(request),
    resolveRealtime: async asked => needed(await open(), 'resolveRealtime')(asked),
  }
}

function needed<Name extends 'sendStored' | 'resolveRealtime'>(
  provider: Provider,
  name: Name,
): NonNullable<Provider[Name]> {
  const act = provider[name]
  if (!act) throw new Error(`${provider.name} has no ${name}`)
  return act
}

/** The project's keys for the provider, from `provider/name/weight`; none where it has one without a name. */
function readKeys(named: readonly string[] | null, provider: DirectProvider) {
  if (named === null) return []
  return named.flatMap(written => {
    const [of, name = '', weight] = written.split('/')
    return of === provider ? [{ name, weight: Number(weight) }] : []
  })
}

/** One provider of several keys, each with a circuit of its own. */
function joinKeys(
  keys: readonly WeightedKey[],
  owner: SealContext,
  { protect, retry, onKeyCooldown }: DirectProvidersOptions,
): Provider {
  const each = keys.map(key => ({ ...key, provider: namingKey(protect(key.provider, owner, key.name), key.name) }))
  const alone = new Map(each.map(key => [key.name, retry(key.provider)]))
  const all = retry(balanceKeys(each, (key, status, restMs) => onKeyCooldown(owner, key, status, restMs)))
  const joined: Provider = { ...all, withKey: key => alone.get(key) ?? joined }
  return joined
}

/** Says in each answer which key was used: what was made with it is asked for with it. */
function namingKey(provider: Provider, key: string): Provider {
  const { sendStored } = provider
  async function note(asked: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
    const answer = await asked
    answer.headers.set(PROVIDER_KEY_HEADER, key)
    return Object.assign(answer, { keys: [key] })
  }
  return {
    ...wrapProvider(provider, ask => note(ask())),
    ...(sendStored && { sendStored: (request: StorageRequest) => note(sendStored(request)) }),
  }
}

/** Creates providers with one key each, which is read when needed and held briefly. */
import { LRUCache } from 'lru-cache'
import type { Vendor } from '../config/vendors.ts'
import { createError } from '../errors/errors.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import type { SealContext } from '../stores/seal.ts'
import type { InstallationKeys } from './keys/installation-keys.ts'
import { type PassThroughRequest, type Provider, type UpstreamResponse, wrapProvider } from './upstream.ts'

export interface KeyedProvidersOptions {
  /** Returns the key in plain text; null when it was removed. Throws when it cannot be decrypted. `name` is null for a project's only key. */
  decryptKey(owner: SealContext, name: string | null): Promise<string | null>
  /** Creates the provider itself for one key; null for none. `isShared` is as in Provider. */
  connect(vendor: Vendor, access: { apiKey: string | null; projectId: number; isShared: boolean }): Provider
  installationKeys: InstallationKeys
}

/** How long a key stays in memory. */
const HOLD_MS = 60_000
/** The number of projects' routes that are cached. Every one has size 1: with `max`, the library would allocate memory for all at each start. */
export const CAPACITY = { maxSize: 30_000, sizeCalculation: () => 1 }

/** Returns the endpoints besides chat that the vendor supports natively. All others are translated. */
export function nativeEndpointsOf({ endpoints }: Pick<Vendor, 'endpoints'>): readonly Endpoint[] {
  return endpoints.filter(isTranslatableEndpoint)
}

/** Headers that select a part of the key's account, such as OpenAI's organization and project, and Anthropic's workspace. */
const ACCOUNT_HEADER = /organi[sz]ation|project|workspace|account/

/** Returns the client's headers that are forwarded to the vendor. A client may select a part of its project's own account only. */
export function clientHeadersOf({ headers }: Pick<Vendor, 'headers'>, isShared = false): readonly string[] {
  const names = headers.map(name => name.toLowerCase()).sort()
  return isShared ? names.filter(name => !ACCOUNT_HEADER.test(name)) : names
}

export function createKeyedProviders({ decryptKey, connect, installationKeys }: KeyedProvidersOptions) {
  /** Providers with decrypted keys. A timer removes each one, whether or not it is used again. */
  const opened = new LRUCache<Provider, Promise<Provider>>({
    ...CAPACITY,
    ttl: HOLD_MS,
    ttlAutopurge: true,
    // `performance.now` is looked up at each call, so that tests can replace it.
    perf: { now: () => performance.now() },
  })

  function openOnce(lazy: Provider, connectWithKey: () => Promise<Provider>): Promise<Provider> {
    const cached = opened.get(lazy)
    if (cached) return cached
    const opening = connectWithKey()
    opened.set(lazy, opening)
    opening.catch(() => opened.delete(lazy))
    return opening
  }

  /** Creates the provider with a key of the project. */
  function create(vendor: Vendor, owner: SealContext, key: string | null): Provider {
    const { name } = vendor
    const open = () =>
      openOnce(lazy, async () => {
        const apiKey = await decryptKey(owner, key)
        if (apiKey === null) throw createError('providerKeyRemoved', { provider: name })
        return connect(vendor, { apiKey, projectId: owner.projectId, isShared: false })
      })
    const lazy: Provider = {
      ...createLazyProvider(vendor, open),
      clientHeaders: clientHeadersOf(vendor),
      ...(name === 'openai' && createOpenAiOperations(open)),
    }
    return lazy
  }

  /** Creates the provider with the key of the installation. A rejected key is read once more if it may have been renewed. */
  function createShared(vendor: Vendor, projectId: number): Provider {
    const open = () =>
      openOnce(lazy, async () => {
        const apiKey = await installationKeys.read(vendor)
        return connect(vendor, { apiKey, projectId, isShared: true })
      })
    const lazy: Provider = wrapProvider(
      {
        ...createLazyProvider(vendor, open),
        isShared: true,
        clientHeaders: clientHeadersOf(vendor, true),
      },
      async send => {
        const response = await send()
        if (response.status !== 401 || !installationKeys.renew(vendor)) return response
        opened.delete(lazy)
        await response.body.cancel().catch(() => {})
        return send(response.credentials && [response.credentials])
      },
    )
    return lazy
  }

  return { create, createShared, forget: (lazy: Provider) => void opened.delete(lazy), clear: () => opened.clear() }
}

function createLazyProvider(vendor: Vendor, open: () => Promise<Provider>): Provider {
  const { name } = vendor
  return {
    name,
    kind: name,
    pricedAs: name,
    isFreeWithoutPrice: vendor.shared_access === 'keyless',
    nativeEndpoints: nativeEndpointsOf(vendor),
    send: async request => (await open()).send(request),
    passThrough: async request => forwardPassThrough(await open(), request),
    listModels: async () => (await open()).listModels?.() ?? [],
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

/** Creates direct providers for a project, with its own stored keys or with the installation's. */
import { LRUCache } from 'lru-cache'
import type { Vendor } from '../config/vendors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { SealContext } from '../stores/seal.ts'
import { withAttempts } from './attempts.ts'
import { balanceKeys, type WeightedKey } from './balance-keys.ts'
import { CAPACITY, createKeyedProviders, type KeyedProvidersOptions } from './keyed-providers.ts'
import type { Provider } from './upstream.ts'

/** The fields of a resolved key that decide which provider keys are used. */
type ProviderKeyFields = Pick<
  ResolvedKey,
  'project_id' | 'direct_providers' | 'provider_keys_version' | 'named_provider_keys'
>

export interface DirectProviders {
  /**
   * Returns the vendor as a provider with the project's current keys, or with the installation's if the project has none. A key is read on the
   * first request. Throws for an unknown vendor.
   */
  resolve(name: string, resolvedKey: ProviderKeyFields): Provider
  close(): void
}

export interface DirectProvidersOptions extends KeyedProvidersOptions {
  /** Returns the vendor as last read; undefined when it was removed. */
  findVendor(name: string): Vendor | undefined
  /** Hides rejections of the installation's key from clients. */
  guard(vendor: Vendor, provider: Provider): Provider
  /** Adds a circuit: one for the key if it has a name, else one for the project. */
  protect(provider: Provider, owner: SealContext, key?: string): Provider
  /** Adds retries. */
  retry(provider: Provider): Provider
  /** Called when the provider rejected a key, which is not used for `cooldownMs`. */
  onKeyCooldown(owner: SealContext, key: string, status: number, cooldownMs: number): void
}

/** One project's route to one vendor, for one version of its row and of its keys. */
interface Route {
  vendor: Vendor
  version: number
  provider: Provider
  /** The provider with each of the keys, which are decrypted on demand. */
  lazy: readonly Provider[]
}

export function createDirectProviders(options: DirectProvidersOptions): DirectProviders {
  const { findVendor, protect, retry, guard } = options
  const routes = new LRUCache<string, Route>(CAPACITY)
  const keyed = createKeyedProviders(options)

  function createRoute(vendor: Vendor, resolvedKey: ProviderKeyFields): Route {
    const { name } = vendor
    const { project_id: projectId, provider_keys_version: version, named_provider_keys: namedKeys } = resolvedKey
    const owner = { projectId, provider: name }
    if (!resolvedKey.direct_providers.includes(name)) {
      const lazy = keyed.createShared(vendor, projectId)
      // The guard is outside the circuit, because a rejected key says nothing about the vendor's health.
      return { vendor, version, provider: guard(vendor, retry(withAttempts(protect(lazy, owner), null))), lazy: [lazy] }
    }
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
      const { project_id, direct_providers, provider_keys_version, named_provider_keys } = resolvedKey
      const vendor = findVendor(name)
      if (!vendor) throw new Error(`vendor ${name} does not exist`)
      // Some callers, such as the judge, pass no named keys: those routes are separate.
      const routeKey = `${name} ${project_id} ${direct_providers.includes(name)} ${named_provider_keys?.join() ?? ''}`
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

/** Finds the provider that stores a project's files or batches: the one that the client names, or the first for which the project has a key. */
import { AGGREGATOR } from '../catalogue/catalogue.ts'
import type { VendorDirectory } from '../catalogue/vendor-directory.ts'
import type { Vendor } from '../config/vendors.ts'
import { createError, type ProxyError } from '../errors/errors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { DEFAULT_KEY_NAME } from '../postgres/stored-objects.ts'
import type { ClientVendor } from './pass-through-operations.ts'
import { noStorageProviderError, sandboxStorageError } from './routing-errors.ts'
import { type StoredObjectCollection, traitsOf } from './stored-object-collections.ts'
import type { Provider } from './upstream.ts'

/** The parts of a request that select a storage provider. */
export interface StorageProviderQuery {
  /** The storage provider of an existing object, as `storageProviderName` formats it. */
  providerId?: string
  /** The vendor whose API the client uses. */
  vendor?: ClientVendor | undefined
}

/** Returns the storage providers of the collection, in order of preference. */
export function listStorageProviders(
  vendors: readonly Pick<Vendor, 'name' | 'keeps'>[],
  collection: StoredObjectCollection,
): string[] {
  const { api, ownership } = traitsOf(collection)
  const names = vendors.filter(({ keeps }) => keeps.includes(collection)).map(({ name }) => name)
  return api === 'openai' && ownership === 'recorded' ? [...names, AGGREGATOR] : names
}

/** The providers that a project can use; `aggregator` is null when none is configured. */
interface AvailableProviders {
  vendors: VendorDirectory
  aggregator: (() => Provider) | null
  direct(name: string): Provider
}

export function findStorageProvider(
  resolvedKey: Pick<ResolvedKey, 'key_type' | 'direct_providers'>,
  collection: StoredObjectCollection,
  { providerId, vendor }: StorageProviderQuery,
  { vendors, aggregator, direct }: AvailableProviders,
): Provider | ProxyError {
  if (resolvedKey.key_type === 'test') return sandboxStorageError()
  const [storageProvider, key = DEFAULT_KEY_NAME] = providerId?.split('/') ?? []
  const named = storageProvider ?? vendor
  for (const name of listStorageProviders(vendors.list, collection)) {
    if (named !== undefined && name !== named) continue
    if (name === AGGREGATOR) {
      if (aggregator) return aggregator()
    } else if (resolvedKey.direct_providers.includes(name)) {
      const provider = direct(name)
      return storageProvider === undefined ? provider : (provider.withKey?.(key) ?? provider)
    }
  }
  return providerId === undefined
    ? noStorageProviderError(collection, vendors, vendor)
    : createError('storageKeyRemoved', { provider: providerId })
}

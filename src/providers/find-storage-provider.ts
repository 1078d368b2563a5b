/** Finds the provider that keeps a project's files or batches: whom the client names, or the first that the project has a key for. */
import { AGGREGATOR } from '../catalogue/catalogue.ts'
import { type DirectProvider, VENDORS } from '../config/vendors.ts'
import { createError, type ProxyError } from '../errors/errors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { DEFAULT_KEY_NAME, type ObjectCollection } from '../postgres/stored-objects.ts'
import type { ClientVendor } from './pass-through-operations.ts'
import { noStorageProviderError, sandboxStorageError } from './routing-errors.ts'
import type { Provider } from './upstream.ts'

/** What says who keeps an object. */
export interface StorageProviderQuery {
  /** The keeper of an existing object, as `storageProviderName` writes it. */
  providerId?: string
  /** Whose API the client speaks. */
  vendor?: ClientVendor | undefined
}

const keptBy = (collection: ObjectCollection) =>
  VENDORS.filter(({ keeps }) => keeps.includes(collection)).map(({ name }) => name)

/** In order of preference. */
const KEEPERS: Record<ObjectCollection, readonly (DirectProvider | typeof AGGREGATOR)[]> = {
  files: [...keptBy('files'), AGGREGATOR],
  batches: [...keptBy('batches'), AGGREGATOR],
  message_batches: keptBy('message_batches'),
  anthropic_files: keptBy('anthropic_files'),
}

/** The providers that a project reaches; `aggregator` is null where none is configured. */
interface Reached {
  aggregator: (() => Provider) | null
  direct(name: DirectProvider): Provider
}

export function findStorageProvider(
  resolvedKey: Pick<ResolvedKey, 'key_type' | 'direct_providers'>,
  collection: ObjectCollection,
  { providerId, vendor }: StorageProviderQuery,
  { aggregator, direct }: Reached,
): Provider | ProxyError {
  if (resolvedKey.key_type === 'test') return sandboxStorageError()
  const [keeper, key = DEFAULT_KEY_NAME] = providerId?.split('/') ?? []
  const named = keeper ?? vendor
  for (const name of KEEPERS[collection]) {
    if (named !== undefined && name !== named) continue
    if (name === AGGREGATOR) {
      if (aggregator) return aggregator()
    } else if (resolvedKey.direct_providers.includes(name)) {
      const provider = direct(name)
      return keeper === undefined ? provider : (provider.withKey?.(key) ?? provider)
    }
  }
  return providerId === undefined
    ? noStorageProviderError(collection, vendor)
    : createError('storageKeyRemoved', { provider: providerId })
}

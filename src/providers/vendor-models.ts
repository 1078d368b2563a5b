/** The models of vendors' own lists, for vendors of which the catalogue has none. Each project's keys may see another list. */
import { LRUCache } from 'lru-cache'
import { type AggregatorModelNames, createAggregatorModelNames } from '../catalogue/aggregator-model-names.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Vendor } from '../config/vendors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { AvailableModel } from './aggregator-models.ts'
import type { Provider } from './upstream.ts'

/** The fields of a resolved key that decide which lists are read, and with which provider keys. */
export type VendorModelsKey = Pick<
  ResolvedKey,
  'key_type' | 'project_id' | 'direct_providers' | 'provider_keys_version' | 'named_provider_keys'
>

export interface VendorModelsOptions {
  catalogue: Catalogue
  directProviderFor(name: string, resolvedKey: VendorModelsKey): Provider
}

export interface VendorModels {
  /** Fetches the lists that are unknown or old. Returns what there is to wait for. */
  refresh(resolvedKey: VendorModelsKey): (Promise<unknown> | undefined)[]
  /** Returns the models of the lists as last fetched, under names that reach them. */
  list(resolvedKey: VendorModelsKey): AvailableModel[]
}

/** The number of lists that are held. */
const MAX_LISTS = 1_000

export function createVendorModels({ catalogue, directProviderFor }: VendorModelsOptions): VendorModels {
  const lists = new LRUCache<string, AggregatorModelNames>({ max: MAX_LISTS })

  /** Returns the vendors whose list is read: those with a key of the project, and those without keys that the operator has set. */
  function listVendors({ key_type, direct_providers }: VendorModelsKey): Vendor[] {
    if (key_type === 'test') return []
    return catalogue.vendors.list.filter(({ name, models_path, key_location, source }) => {
      const isUsed = direct_providers.includes(name) || (key_location === 'none' && source === 'operator')
      return isUsed && models_path !== null && catalogue.modelsOf(name).length === 0
    })
  }

  function namesOf({ name, base_url }: Vendor, resolvedKey: VendorModelsKey): AggregatorModelNames {
    const id = `${name} ${base_url} ${resolvedKey.project_id} ${resolvedKey.provider_keys_version}`
    const known = lists.get(id)
    if (known) return known
    const names = createAggregatorModelNames({
      forwardsUnlistedNames: true,
      fetchNames: async () => (await directProviderFor(name, resolvedKey).listModels?.()) ?? [],
      // The vendor's models can be requested whether or not they are listed.
      onFailed: () => {},
    })
    lists.set(id, names)
    return names
  }

  return {
    refresh: resolvedKey => listVendors(resolvedKey).map(vendor => namesOf(vendor, resolvedKey).refresh()),
    list: resolvedKey =>
      listVendors(resolvedKey).flatMap(vendor =>
        (namesOf(vendor, resolvedKey).list?.names ?? []).map((name): AvailableModel => {
          const isNative = catalogue.vendors.matchNames(name)[0] === vendor.name
          return { provider: vendor.name, model: isNative ? name : `${vendor.name}/${name}`, kind: null }
        }),
      ),
  }
}

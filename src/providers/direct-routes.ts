/** Finds the vendor that a request reaches directly: by a native name of one of its models, or by its own name in front of the model's. */
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { VALID_MODEL_NAME } from '../catalogue/vendor-model-names.ts'
import type { Vendor } from '../config/vendors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { type AggregatorModels, VENDOR_MODEL_PATTERN } from './aggregator-models.ts'
import { renameModel } from './rename-model.ts'
import type { Provider } from './upstream.ts'

type KeyFields = Pick<ResolvedKey, 'key_type' | 'direct_providers'>

/** A vendor, and its own name for the model where that differs from the requested one. */
export interface DirectRoute {
  vendor: string
  nativeName?: string | undefined
}

export interface DirectRoutes {
  /**
   * Returns the vendors that the project can reach, in order of preference: those with a key of the project first. The sandbox answers test keys
   * for all vendors.
   */
  listReachable(resolvedKey: KeyFields): readonly string[]
  /** Returns the route of a native name, or of a name that only this vendor can mean. */
  find(model: string, resolvedKey: KeyFields): DirectRoute | undefined
  /** Returns whether the aggregator's own list decides about the route of the name. */
  dependsOnAggregatorList(model: string, resolvedKey: KeyFields): boolean
}

export interface DirectRoutesOptions {
  catalogue: Catalogue
  aggregated: AggregatorModels
  hasAggregator: boolean
}

/** Returns whether an aggregator can mean a model of its own by a name that begins with the vendor's. */
function isNamedByAggregators({ makes_models, shared_access }: Vendor): boolean {
  return makes_models && shared_access !== 'keyless'
}

export function createDirectRoutes({ catalogue, aggregated, hasAggregator }: DirectRoutesOptions): DirectRoutes {
  function listReachable({ key_type, direct_providers }: KeyFields): readonly string[] {
    const { list, names } = catalogue.vendors
    if (key_type === 'test') return names
    const own = list.filter(({ name }) => direct_providers.includes(name))
    const shared = list.filter(({ name, shared_access }) => shared_access && !direct_providers.includes(name))
    return [...own, ...shared].map(({ name }) => name)
  }

  /** Finds a vendor by its listed native names, and then by the form of an unlisted name. */
  function findNative(model: string, reachable: readonly string[]): DirectRoute | undefined {
    const listed = catalogue.directProvidersOf(model)
    const vendor = reachable.find(name => listed.includes(name))
    if (vendor !== undefined) return { vendor }
    const matched = catalogue.vendors.matchNames(model)
    const likely = reachable.find(name => matched.includes(name))
    return likely === undefined ? undefined : { vendor: likely, nativeName: catalogue.nativeNameOf(likely, model) }
  }

  /**
   * Finds the vendor whose name is in front. If aggregators name models after the vendor, the aggregator has precedence, unless it is known to
   * lack the model.
   */
  function findNamed(model: string, reachable: readonly string[]): DirectRoute | undefined {
    const vendor = VENDOR_MODEL_PATTERN.test(model) ? catalogue.vendors.findByPrefix(model) : undefined
    if (vendor === undefined || !reachable.includes(vendor.name)) return undefined
    const native = catalogue.nativeNameOf(vendor.name, model)
    const isKnownElsewhere = hasAggregator ? aggregated.canHave(model) : native === undefined && isListed(model)
    if (isNamedByAggregators(vendor) && isKnownElsewhere) return undefined
    return { vendor: vendor.name, nativeName: native ?? model.slice(vendor.name.length + 1) }
  }

  /** Returns whether the catalogue has the name, or the name without its variant (`:free`), among aggregators' names. */
  function isListed(model: string): boolean {
    return catalogue.find(AGGREGATOR, model.replace(/:[^:/]*$/, ''))?.listed === true
  }

  function find(model: string, resolvedKey: KeyFields): DirectRoute | undefined {
    const reachable = listReachable(resolvedKey)
    return reachable.length === 0 ? undefined : (findNative(model, reachable) ?? findNamed(model, reachable))
  }

  return {
    listReachable,
    find,
    dependsOnAggregatorList(model, resolvedKey) {
      if (VALID_MODEL_NAME.test(model)) return find(model, resolvedKey) === undefined
      const vendor = catalogue.vendors.findByPrefix(model)
      if (vendor === undefined || !listReachable(resolvedKey).includes(vendor.name)) return false
      return isNamedByAggregators(vendor) && !isListed(model)
    },
  }
}

/** Returns the provider, which is called with the vendor's own name for the model. */
export function withNativeName(provider: Provider, { nativeName }: DirectRoute): Provider {
  return nativeName === undefined ? provider : renameModel(provider, nativeName)
}

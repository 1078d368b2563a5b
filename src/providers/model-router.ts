/** Finds the provider for a model's name and a project. */
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { createError, ProxyError } from '../errors/errors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import {
  type AggregatorModels,
  type AggregatorModelsOptions,
  type AvailableModel,
  createAggregatorModels,
  VENDOR_MODEL_PATTERN,
} from './aggregator-models.ts'
import { createDirectRoutes, type DirectRoutes, withNativeName } from './direct-routes.ts'
import { findStorageProvider, type StorageProviderQuery } from './find-storage-provider.ts'
import { matchesAnyModelPattern } from './model-patterns.ts'
import { modelNotFoundError, noRouteError, quoteModel } from './routing-errors.ts'
import type { StoredObjectCollection } from './stored-object-collections.ts'
import type { Provider } from './upstream.ts'
import {
  createVendorModels,
  type VendorModels,
  type VendorModelsKey,
  type VendorModelsOptions,
} from './vendor-models.ts'

/** The fields of a resolved key that decide about the route. */
export type RoutingContext = VendorModelsKey & ModelAllowlists

export interface ModelRouter {
  /**
   * Returns the provider for this model, or an error: 404 for an unknown name, 503 when nothing is configured, 403 for a model that the project
   * does not allow. A name in no list is routed to the provider whose names look like it. A name with a vendor prefix is routed to the
   * aggregator or, when there is none, to that vendor. Errors are returned, not thrown, because the key must be checked first. `alternatives`
   * are other models that the request names. `requestedName` is the alias when the request named one: then the alias must be allowed, not the
   * model.
   */
  resolve(
    model: string,
    resolvedKey: RoutingContext,
    alternatives?: readonly string[],
    requestedName?: string,
  ): Provider | ProxyError
  /** Returns the provider that stores this project's responses, by default OpenAI with the project's own key; null when there is none. */
  findResponseStorage(resolvedKey: RoutingContext, name?: string): Provider | null
  /**
   * Returns the provider that stores this project's files or batches, or an error. It is the one that the client names. A client of OpenAI's
   * format that names none gets OpenAI or Groq, if the project has a key for one of them, and otherwise the aggregator. Anthropic's collections
   * are stored by Anthropic alone.
   */
  findStorageProvider(
    resolvedKey: RoutingContext,
    collection: StoredObjectCollection,
    query?: StorageProviderQuery,
  ): Provider | ProxyError
  /** Returns the provider of this model by its name in the catalogue's prices; null for a name without a route. */
  resolvePriceProvider(model: string, resolvedKey: RoutingContext): string | null
  /**
   * Returns the catalogue's models for which `resolve` finds a provider, and the models of an aggregator that has names of its own. Of two
   * models with the same name, it returns the one that `resolve` would choose.
   */
  listModels(resolvedKey: RoutingContext): AvailableModel[]
  /** Returns the model with this name, or the error of `resolve`, or a 404 when the provider is known to lack the model. */
  findModel(model: string, resolvedKey: RoutingContext): AvailableModel | ProxyError
  /**
   * Reads the aggregator's own list when it may contain this name, which has no vendor prefix, and always when no name is given; then vendors'
   * own lists, too. Returns
   * undefined when there is nothing to wait for. After the returned promise, `resolve` may return another provider.
   */
  loadModelNames(resolvedKey: RoutingContext, model?: string): Promise<unknown> | undefined
}

export interface ModelRouterOptions extends AggregatorModelsOptions, VendorModelsOptions {
  sandbox: Provider
}

export function createModelRouter(options: ModelRouterOptions): ModelRouter {
  const { catalogue, sandbox, aggregatorFor, directProviderFor } = options
  const aggregated = createAggregatorModels(options)
  const directRoutes = createDirectRoutes({ catalogue, aggregated, hasAggregator: aggregatorFor !== null })
  const vendorModels = createVendorModels(options)

  /** Lists the models that the key can use, sorted by name. A vendor's model replaces the aggregator's of the same name. */
  function listModels(resolvedKey: RoutingContext): AvailableModel[] {
    const hasAggregator = aggregatorFor !== null || resolvedKey.key_type === 'test'
    const models: AvailableModel[] = hasAggregator ? [...aggregated.listModels()] : []
    for (const vendor of directRoutes.listReachable(resolvedKey).toReversed())
      models.push(...catalogue.modelsOf(vendor))
    models.push(...vendorModels.list(resolvedKey))
    return sortByName(models.filter(({ model }) => isModelAllowed(model, resolvedKey)))
  }

  function resolve(
    model: string,
    resolvedKey: RoutingContext,
    alternatives: readonly string[] = [],
    requestedName = model,
  ): Provider | ProxyError {
    const rejection = checkAllowedModels([requestedName, ...alternatives], resolvedKey)
    if (rejection) return rejection
    if (resolvedKey.key_type === 'test')
      return isKnown(model, catalogue, aggregated)
        ? sandbox
        : modelNotFoundError(model, catalogue, listModels(resolvedKey))
    const direct = directRoutes.find(model, resolvedKey)
    if (direct) return withNativeName(directProviderFor(direct.vendor, resolvedKey), direct)
    const provider = aggregated.findProvider(model, resolvedKey.project_id)
    if (provider) return provider
    return VENDOR_MODEL_PATTERN.test(model)
      ? noRouteError(model, catalogue)
      : modelNotFoundError(model, catalogue, listModels(resolvedKey))
  }

  return {
    resolve,
    listModels,

    findResponseStorage: (resolvedKey, name) => findResponseStorage(options, resolvedKey, name),

    findStorageProvider: (resolvedKey, collection, query = {}) =>
      findStorageProvider(resolvedKey, collection, query, {
        vendors: catalogue.vendors,
        aggregator: aggregatorFor && (() => aggregatorFor(resolvedKey.project_id)),
        direct: name => directProviderFor(name, resolvedKey),
      }),

    resolvePriceProvider: (model, resolvedKey) =>
      directRoutes.find(model, resolvedKey)?.vendor ??
      (aggregatorFor && aggregated.resolveName(model) !== undefined ? AGGREGATOR : null),

    findModel(model, resolvedKey) {
      const listed = listModels(resolvedKey).find(candidate => candidate.model === model)
      if (listed) return listed
      const provider = resolve(model, resolvedKey)
      return provider instanceof ProxyError ? provider : findUnlistedModel(model, provider, catalogue, aggregated)
    },

    loadModelNames: (resolvedKey, model) => loadLists(options, { directRoutes, vendorModels }, resolvedKey, model),
  }
}

/** Fetches the lists that decide about the model; all lists when it is undefined. Returns undefined when there is nothing to wait for. */
function loadLists(
  { aggregatorFor, modelNames }: ModelRouterOptions,
  { directRoutes, vendorModels }: { directRoutes: DirectRoutes; vendorModels: VendorModels },
  resolvedKey: RoutingContext,
  model: string | undefined,
): Promise<unknown> | undefined {
  if (resolvedKey.key_type === 'test') return undefined
  const isUsed = model === undefined || directRoutes.dependsOnAggregatorList(model, resolvedKey)
  const aggregatorList = aggregatorFor && isUsed ? [modelNames.refresh()] : []
  const vendorLists = model === undefined ? vendorModels.refresh(resolvedKey) : []
  const pending = [...aggregatorList, ...vendorLists].filter(each => each !== undefined)
  return pending.length === 0 ? undefined : Promise.all(pending)
}

/** Returns a model that the key's list does not contain, or a 404 when the provider is known to lack it or to have withdrawn it. */
function findUnlistedModel(
  model: string,
  { pricedAs, name }: Provider,
  catalogue: Catalogue,
  aggregated: AggregatorModels,
): AvailableModel | ProxyError {
  const known = catalogue.find(pricedAs, model)
  if (known?.listed) return known
  const isUnavailable = known !== undefined || (pricedAs === AGGREGATOR && !aggregated.canHave(model))
  if (isUnavailable) return createError('modelNotListed', { model: quoteModel(model) })
  return { provider: name, model, kind: null }
}

function isKnown(model: string, catalogue: Catalogue, aggregated: AggregatorModels): boolean {
  const isNative = catalogue.directProvidersOf(model).length > 0 || catalogue.vendors.matchNames(model).length > 0
  return isNative || aggregated.resolveName(model) !== undefined
}

function findResponseStorage(
  { catalogue, aggregatorFor, directProviderFor }: ModelRouterOptions,
  resolvedKey: RoutingContext,
  name = 'openai',
): Provider | null {
  if (resolvedKey.key_type === 'test') return null
  if (name === AGGREGATOR) return aggregatorFor?.(resolvedKey.project_id) ?? null
  const isOwn = resolvedKey.direct_providers.includes('openai') && catalogue.vendors.find('openai')
  return isOwn ? directProviderFor('openai', resolvedKey) : null
}

/** Sorts models by name. Of several with one name, the last is kept. */
function sortByName(models: readonly AvailableModel[]): AvailableModel[] {
  const byName = new Map(models.map(model => [model.model, model]))
  return [...byName.values()].sort((a, b) => (a.model < b.model ? -1 : 1))
}

type ModelAllowlists = Pick<ResolvedKey, 'allowed_models' | 'key_allowed_models'>

/** Returns whether the project or the key allows only certain models. */
export function hasModelAllowlist({ allowed_models, key_allowed_models }: ModelAllowlists): boolean {
  return allowed_models.length > 0 || key_allowed_models !== null
}

/** Returns a copy that allows every model. It is used for models that the project itself chose: fallbacks, the judge, an alias's model. */
export function withoutModelAllowlist<Key extends object>(resolvedKey: Key) {
  return { ...resolvedKey, allowed_models: [], key_allowed_models: null }
}

/** Returns whether both the project and the key allow the model. */
export function isModelAllowed(model: string, { allowed_models, key_allowed_models }: ModelAllowlists): boolean {
  if (!isAllowedInProject(model, allowed_models)) return false
  return key_allowed_models === null || matchesAnyModelPattern(model, key_allowed_models)
}

/** Returns a 403 for the first model that the project or the key does not allow; null when both allow all. */
export function checkAllowedModels(models: readonly string[], allowlists: ModelAllowlists): ProxyError | null {
  const rejected = models.find(model => !isModelAllowed(model, allowlists))
  if (rejected === undefined) return null
  return isAllowedInProject(rejected, allowlists.allowed_models)
    ? modelNotAllowedError(rejected, 'with this key: its limit', allowlists.key_allowed_models ?? [])
    : modelNotAllowedError(rejected, 'in this project: its setting', allowlists.allowed_models)
}

function isAllowedInProject(model: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || matchesAnyModelPattern(model, patterns)
}

/** The number of patterns that an error message lists. */
const MAX_SHOWN_PATTERNS = 10

function modelNotAllowedError(model: string, where: string, patterns: readonly string[]): ProxyError {
  const shown = patterns.slice(0, MAX_SHOWN_PATTERNS).join(', ')
  return createError('modelNotAllowed', {
    model: JSON.stringify(model.slice(0, 100)),
    where,
    patterns: `${shown}${patterns.length > MAX_SHOWN_PATTERNS ? ', …' : ''}`,
  })
}

/** Returns the id of a provider's route. It includes `pricedAs`, because an aggregator may have the name of a direct provider. */
export function routeIdOf({ name, pricedAs }: { name: string; pricedAs: string | null }): string {
  return `${pricedAs ?? ''}/${name}`
}

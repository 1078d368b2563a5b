/** Finds the provider that answers a model's name for a project. */
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { matchProvider, matchProviders, VALID_MODEL_NAME } from '../catalogue/vendor-model-names.ts'
import { type DirectProvider, VENDORS } from '../config/vendors.ts'
import { createError, ProxyError } from '../errors/errors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { ObjectCollection } from '../postgres/stored-objects.ts'
import {
  type AggregatorModels,
  type AggregatorModelsOptions,
  type AvailableModel,
  createAggregatorModels,
  VENDOR_MODEL_PATTERN,
} from './aggregator-models.ts'
import { findStorageProvider, type StorageProviderQuery } from './find-storage-provider.ts'
import { renameModel } from './rename-model.ts'
import { modelNotFoundError, noRouteError, quoteModel } from './routing-errors.ts'
import type { Provider } from './upstream.ts'

/** The fields of an account that decide. */
export type RoutingContext = Pick<
  ResolvedKey,
  | 'key_type'
  | 'project_id'
  | 'direct_providers'
  | 'provider_keys_version'
  | 'named_provider_keys'
  | 'allowed_models'
  | 'key_allowed_models'
>

export interface ModelRouter {
  /**
   * Returns the provider for this model, or the error: 404 for an unknown name, 503 when nothing is configured, 403 for a model that the
   * project does not allow. A name in no list goes to the provider whose names look like it; one with a vendor in front to the aggregator
   * or, without one, to that vendor itself. Errors are returned, not thrown, because the key must be checked first. `alternatives` are other
   * models that the request names; `askedAs` is the alias that stands for the model, if it was not named itself: then that is what has to be
   * allowed.
   */
  resolve(
    model: string,
    resolvedKey: RoutingContext,
    alternatives?: readonly string[],
    askedAs?: string,
  ): Provider | ProxyError
  /** Returns the provider that keeps this project's responses: by default OpenAI under its own key. Null when it does not. */
  findResponseStorage(resolvedKey: RoutingContext, name?: string): Provider | null
  /**
   * Returns the provider that keeps this project's files or batches, or an error: whom the client names or, where it speaks OpenAI's format,
   * OpenAI or Groq if the project has stored a key for one of them, else the aggregator; Anthropic alone for what is Anthropic's.
   */
  findStorageProvider(
    resolvedKey: RoutingContext,
    collection: ObjectCollection,
    wanted?: StorageProviderQuery,
  ): Provider | ProxyError
  /** The name of the provider that this model leads to, in the catalogue's prices; null for a name that leads nowhere. */
  resolvePriceProvider(model: string, resolvedKey: RoutingContext): DirectProvider | typeof AGGREGATOR | null
  /**
   * The catalogue's models for which `resolve` finds a provider, and those of an aggregator that has names of its own; of two with one name,
   * the one that it would choose.
   */
  listModels(resolvedKey: RoutingContext): AvailableModel[]
  /** The model that this name leads to, or the error: that of `resolve`, and a 404 for a name that its provider is known not to have. */
  findModel(model: string, resolvedKey: RoutingContext): AvailableModel | ProxyError
  /**
   * Reads the aggregator's own list where this name, which has no vendor, may be one of it; without a name in any case. Undefined when there
   * is nothing to wait for; otherwise `resolve` may return another provider afterwards.
   */
  loadModelNames(resolvedKey: RoutingContext, model?: string): Promise<unknown> | undefined
}

export interface ModelRouterOptions extends AggregatorModelsOptions {
  sandbox: Provider
  directProviderFor(name: DirectProvider, resolvedKey: RoutingContext): Provider
}

/** In order of preference, in case two have a native model of one name. */
export const DIRECT_PROVIDERS: readonly DirectProvider[] = VENDORS.map(({ name }) => name)

export function createModelRouter(options: ModelRouterOptions): ModelRouter {
  const { catalogue, sandbox, aggregatorFor, modelNames, directProviderFor } = options
  const aggregated = createAggregatorModels(options)

  const listModels = (resolvedKey: RoutingContext) =>
    listOffered(
      provider => (provider === AGGREGATOR ? aggregated.listModels() : catalogue.modelsOf(provider)),
      resolvedKey,
      aggregatorFor !== null,
    )

  function resolve(
    model: string,
    resolvedKey: RoutingContext,
    alternatives: readonly string[] = [],
    askedAs = model,
  ): Provider | ProxyError {
    const refusal = checkAllowedModels([askedAs, ...alternatives], resolvedKey)
    if (refusal) return refusal
    if (resolvedKey.key_type === 'test')
      return isKnown(model, catalogue, aggregated)
        ? sandbox
        : modelNotFoundError(model, catalogue, listModels(resolvedKey))
    const direct = findDirect(catalogue, model, resolvedKey)
    if (direct) return askedDirectly(options, direct, model, resolvedKey)
    const reached = aggregated.findProvider(model, resolvedKey.project_id) ?? findByVendor(options, model, resolvedKey)
    if (reached) return reached
    if (!VENDOR_MODEL_PATTERN.test(model)) return modelNotFoundError(model, catalogue, listModels(resolvedKey))
    return noRouteError(model, catalogue)
  }

  return {
    resolve,
    listModels,

    findResponseStorage(account, name = 'openai') {
      if (account.key_type === 'test') return null
      if (name === AGGREGATOR) return aggregatorFor?.(account.project_id) ?? null
      return account.direct_providers.includes('openai') ? directProviderFor('openai', account) : null
    },

    findStorageProvider: (account, collection, wanted = {}) =>
      findStorageProvider(account, collection, wanted, {
        aggregator: aggregatorFor && (() => aggregatorFor(account.project_id)),
        direct: name => directProviderFor(name, account),
      }),

    resolvePriceProvider: (model, account) =>
      findDirect(catalogue, model, account) ??
      (aggregatorFor && aggregated.resolveName(model) !== undefined ? AGGREGATOR : null),

    findModel(model, account) {
      const listed = listModels(account).find(known => known.model === model)
      if (listed) return listed
      const provider = resolve(model, account)
      if (provider instanceof ProxyError) return provider
      const { pricedAs, name } = provider
      const known = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
      if (known?.listed) return known
      const isGone = known !== undefined || (pricedAs === AGGREGATOR && !aggregated.canHave(model))
      return isGone
        ? createError('modelNotListed', { model: quoteModel(model) })
        : { provider: name, model, kind: null }
    },

    loadModelNames(account, model) {
      if (!aggregatorFor || account.key_type === 'test') return undefined
      const isOther = model !== undefined && (!VALID_MODEL_NAME.test(model) || findDirect(catalogue, model, account))
      return isOther ? undefined : modelNames.refresh()
    },
  }
}

function isKnown(model: string, catalogue: Catalogue, aggregated: AggregatorModels): boolean {
  const isNative = catalogue.directProvidersOf(model).length > 0 || matchProvider(model) !== undefined
  return isNative || aggregated.resolveName(model) !== undefined
}

/** The project's own key for the vendor in front of the name, which has the model under its native one. */
function findByVendor(options: ModelRouterOptions, model: string, resolvedKey: RoutingContext): Provider | undefined {
  const provider = DIRECT_PROVIDERS.find(
    name => resolvedKey.direct_providers.includes(name) && options.catalogue.nativeNameOf(name, model) !== undefined,
  )
  return provider && askedDirectly(options, provider, model, resolvedKey)
}

/** By the native name. */
function askedDirectly(
  { catalogue, directProviderFor }: ModelRouterOptions,
  provider: DirectProvider,
  model: string,
  resolvedKey: RoutingContext,
): Provider {
  const isNative = catalogue.directProvidersOf(model).includes(provider)
  const name = isNative ? undefined : catalogue.nativeNameOf(provider, model)
  return name === undefined
    ? directProviderFor(provider, resolvedKey)
    : renameModel(directProviderFor(provider, resolvedKey), name)
}

/** By the list of native names, then by what an unlisted name looks like. */
function findDirect(
  catalogue: Catalogue,
  model: string,
  { direct_providers }: RoutingContext,
): DirectProvider | undefined {
  if (direct_providers.length === 0) return undefined
  const native = catalogue.directProvidersOf(model)
  const listed = DIRECT_PROVIDERS.find(name => native.includes(name) && direct_providers.includes(name))
  if (listed) return listed
  return matchProviders(model).find(name => direct_providers.includes(name))
}

/** Sorted by name; a direct provider's model replaces the aggregator's. */
function listOffered(
  listedBy: (provider: string) => readonly AvailableModel[],
  resolvedKey: RoutingContext,
  hasAggregator: boolean,
): AvailableModel[] {
  const isTest = resolvedKey.key_type === 'test'
  const offers = (provider: string) =>
    isTest || (provider === AGGREGATOR ? hasAggregator : resolvedKey.direct_providers.includes(provider))
  const byName = new Map<string, AvailableModel>()
  for (const provider of [AGGREGATOR, ...DIRECT_PROVIDERS.toReversed()].filter(offers)) {
    for (const model of listedBy(provider)) if (isModelAllowed(model.model, resolvedKey)) byName.set(model.model, model)
  }
  return [...byName.values()].sort((a, b) => (a.model < b.model ? -1 : 1))
}

type Narrowed = Pick<ResolvedKey, 'allowed_models' | 'key_allowed_models'>

/** Whether anything narrows the models. */
export function hasModelAllowlist({ allowed_models, key_allowed_models }: Narrowed): boolean {
  return allowed_models.length > 0 || key_allowed_models !== null
}

/** The account for what the project chose itself: fallbacks, the judge, an alias's model. */
export function withoutModelAllowlist<A extends object>(account: A) {
  return { ...account, allowed_models: [], key_allowed_models: null }
}

/** Both the project and the key must allow it. */
export function isModelAllowed(model: string, { allowed_models, key_allowed_models }: Narrowed): boolean {
  if (!isAllowedInProject(model, allowed_models)) return false
  return key_allowed_models === null || matchesAny(model, key_allowed_models)
}

/** Returns a 403 for the first model that the project or the key does not allow; null when both allow all. */
export function checkAllowedModels(models: readonly string[], account: Narrowed): ProxyError | null {
  const refused = models.find(model => !isModelAllowed(model, account))
  if (refused === undefined) return null
  return isAllowedInProject(refused, account.allowed_models)
    ? notAllowed(refused, 'with this key: its limit', account.key_allowed_models ?? [])
    : notAllowed(refused, 'in this project: its setting', account.allowed_models)
}

function isAllowedInProject(model: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || matchesAny(model, patterns)
}

function matchesAny(model: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => matches(model, pattern))
}

/** `*` stands for any characters, including none. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

const MOST_SHOWN = 10

function notAllowed(model: string, where: string, patterns: readonly string[]): ProxyError {
  const shown = patterns.slice(0, MOST_SHOWN).join(', ')
  return createError('modelNotAllowed', {
    model: JSON.stringify(model.slice(0, 100)),
    where,
    patterns: `${shown}${patterns.length > MOST_SHOWN ? ', …' : ''}`,
  })
}

/** Includes the price's name, because an aggregator may be named like a direct provider. */
export function routeIdOf({ name, pricedAs }: { name: string; pricedAs: string | null }): string {
  return `${pricedAs ?? ''}/${name}`
}

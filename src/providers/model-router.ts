/** Finds the provider that answers a model's name for a project. */
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { providerOfName, providersOfName, SOUND_NAME } from '../catalogue/native-names.ts'
import { type DirectProvider, VENDORS } from '../config/vendors.ts'
import { ProxyError, refuse } from '../errors/errors.ts'
import type { Account } from '../postgres/admit.ts'
import type { Collection } from '../postgres/kept-objects.ts'
import {
  type Aggregated,
  type AggregatedOptions,
  createAggregated,
  type OfferedModel,
  VENDOR_AND_MODEL,
} from './aggregated.ts'
import { modelNotFound, noRouteTo, showModel } from './no-route.ts'
import { keeperOfObjects, type WantedKeeper } from './object-keepers.ts'
import { renameModel } from './rename-model.ts'
import type { Provider } from './upstream.ts'

/** The fields of an account that decide. */
export type Routed = Pick<
  Account,
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
  resolve(model: string, account: Routed, alternatives?: readonly string[], askedAs?: string): Provider | ProxyError
  /** Returns the provider that keeps this project's responses: by default OpenAI under its own key. Null when it does not. */
  keeperOf(account: Routed, name?: string): Provider | null
  /**
   * Returns the provider that keeps this project's files or batches, or an error: whom the client names or, where it speaks OpenAI's format,
   * OpenAI or Groq if the project has stored a key for one of them, else the aggregator; Anthropic alone for what is Anthropic's.
   */
  keeperOfObjects(account: Routed, collection: Collection, wanted?: WantedKeeper): Provider | ProxyError
  /** The name of the provider that this model leads to, in the catalogue's prices; null for a name that leads nowhere. */
  nameVendorOf(model: string, account: Routed): DirectProvider | typeof AGGREGATOR | null
  /**
   * The catalogue's models for which `resolve` finds a provider, and those of an aggregator that has names of its own; of two with one name,
   * the one that it would choose.
   */
  listModels(account: Routed): OfferedModel[]
  /** The model that this name leads to, or the error: that of `resolve`, and a 404 for a name that its provider is known not to have. */
  findModel(model: string, account: Routed): OfferedModel | ProxyError
  /**
   * Reads the aggregator's own list where this name, which has no vendor, may be one of it; without a name in any case. Undefined when there
   * is nothing to wait for; otherwise `resolve` may return another provider afterwards.
   */
  learnNames(account: Routed, model?: string): Promise<unknown> | undefined
}

export interface ModelRouterOptions extends AggregatedOptions {
  sandbox: Provider
  directFor(name: DirectProvider, account: Routed): Provider
}

/** In order of preference, in case two have a native model of one name. */
export const DIRECT_PROVIDERS: readonly DirectProvider[] = VENDORS.map(({ name }) => name)

export function createModelRouter(options: ModelRouterOptions): ModelRouter {
  const { catalogue, sandbox, aggregatorFor, offered, directFor } = options
  const aggregated = createAggregated(options)

  const listModels = (account: Routed) =>
    listOffered(
      provider => (provider === AGGREGATOR ? aggregated.listModels() : catalogue.listedBy(provider)),
      account,
      aggregatorFor !== null,
    )

  function resolve(
    model: string,
    account: Routed,
    alternatives: readonly string[] = [],
    askedAs = model,
  ): Provider | ProxyError {
    const refusal = refuseUnallowed([askedAs, ...alternatives], account)
    if (refusal) return refusal
    if (account.key_type === 'test')
      return isKnown(model, catalogue, aggregated) ? sandbox : modelNotFound(model, catalogue, listModels(account))
    const direct = findDirect(catalogue, model, account)
    if (direct) return askedDirectly(options, direct, model, account)
    const reached = aggregated.find(model, account.project_id) ?? findByVendor(options, model, account)
    if (reached) return reached
    if (!VENDOR_AND_MODEL.test(model)) return modelNotFound(model, catalogue, listModels(account))
    return noRouteTo(model, catalogue)
  }

  return {
    resolve,
    listModels,

    keeperOf(account, name = 'openai') {
      if (account.key_type === 'test') return null
      if (name === AGGREGATOR) return aggregatorFor?.(account.project_id) ?? null
      return account.direct_providers.includes('openai') ? directFor('openai', account) : null
    },

    keeperOfObjects: (account, collection, wanted = {}) =>
      keeperOfObjects(account, collection, wanted, {
        aggregator: aggregatorFor && (() => aggregatorFor(account.project_id)),
        direct: name => directFor(name, account),
      }),

    nameVendorOf: (model, account) =>
      findDirect(catalogue, model, account) ??
      (aggregatorFor && aggregated.nameOf(model) !== undefined ? AGGREGATOR : null),

    findModel(model, account) {
      const listed = listModels(account).find(known => known.model === model)
      if (listed) return listed
      const provider = resolve(model, account)
      if (provider instanceof ProxyError) return provider
      const { pricedAs, name } = provider
      const known = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
      if (known?.listed) return known
      const isGone = known !== undefined || (pricedAs === AGGREGATOR && !aggregated.mayHave(model))
      return isGone ? refuse('modelNotListed', { model: showModel(model) }) : { provider: name, model, kind: null }
    },

    learnNames(account, model) {
      if (!aggregatorFor || account.key_type === 'test') return undefined
      const isOther = model !== undefined && (!SOUND_NAME.test(model) || findDirect(catalogue, model, account))
      return isOther ? undefined : offered.read()
    },
  }
}

function isKnown(model: string, catalogue: Catalogue, aggregated: Aggregated): boolean {
  const isNative = catalogue.directProvidersOf(model).length > 0 || providerOfName(model) !== undefined
  return isNative || aggregated.nameOf(model) !== undefined
}

/** The project's own key for the vendor in front of the name, which has the model under its native one. */
function findByVendor(options: ModelRouterOptions, model: string, account: Routed): Provider | undefined {
  const provider = DIRECT_PROVIDERS.find(
    name => account.direct_providers.includes(name) && options.catalogue.nativeOf(name, model) !== undefined,
  )
  return provider && askedDirectly(options, provider, model, account)
}

/** By the native name. */
function askedDirectly(
  { catalogue, directFor }: ModelRouterOptions,
  provider: DirectProvider,
  model: string,
  account: Routed,
): Provider {
  const isNative = catalogue.directProvidersOf(model).includes(provider)
  const name = isNative ? undefined : catalogue.nativeOf(provider, model)
  return name === undefined ? directFor(provider, account) : renameModel(directFor(provider, account), name)
}

/** By the list of native names, then by what an unlisted name looks like. */
function findDirect(catalogue: Catalogue, model: string, { direct_providers }: Routed): DirectProvider | undefined {
  if (direct_providers.length === 0) return undefined
  const native = catalogue.directProvidersOf(model)
  const listed = DIRECT_PROVIDERS.find(name => native.includes(name) && direct_providers.includes(name))
  if (listed) return listed
  return providersOfName(model).find(name => direct_providers.includes(name))
}

/** Sorted by name; a direct provider's model replaces the aggregator's. */
function listOffered(
  listedBy: (provider: string) => readonly OfferedModel[],
  account: Routed,
  hasAggregator: boolean,
): OfferedModel[] {
  const isTest = account.key_type === 'test'
  const offers = (provider: string) =>
    isTest || (provider === AGGREGATOR ? hasAggregator : account.direct_providers.includes(provider))
  const byName = new Map<string, OfferedModel>()
  for (const provider of [AGGREGATOR, ...DIRECT_PROVIDERS.toReversed()].filter(offers)) {
    for (const model of listedBy(provider)) if (isAllowed(model.model, account)) byName.set(model.model, model)
  }
  return [...byName.values()].sort((a, b) => (a.model < b.model ? -1 : 1))
}

type Narrowed = Pick<Account, 'allowed_models' | 'key_allowed_models'>

/** Whether anything narrows the models. */
export function isNarrowed({ allowed_models, key_allowed_models }: Narrowed): boolean {
  return allowed_models.length > 0 || key_allowed_models !== null
}

/** The account for what the project chose itself: fallbacks, the judge, an alias's model. */
export function unnarrowed<A extends object>(account: A) {
  return { ...account, allowed_models: [], key_allowed_models: null }
}

/** Both the project and the key must allow it. */
export function isAllowed(model: string, { allowed_models, key_allowed_models }: Narrowed): boolean {
  if (!isAllowedInProject(model, allowed_models)) return false
  return key_allowed_models === null || matchesAny(model, key_allowed_models)
}

/** Returns a 403 for the first model that the project or the key does not allow; null when both allow all. */
export function refuseUnallowed(models: readonly string[], account: Narrowed): ProxyError | null {
  const refused = models.find(model => !isAllowed(model, account))
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
  return refuse('modelNotAllowed', {
    model: JSON.stringify(model.slice(0, 100)),
    where,
    patterns: `${shown}${patterns.length > MOST_SHOWN ? ', …' : ''}`,
  })
}

/** Includes the price's name, because an aggregator may be named like a direct provider. */
export function nameRoute({ name, pricedAs }: { name: string; pricedAs: string | null }): string {
  return `${pricedAs ?? ''}/${name}`
}

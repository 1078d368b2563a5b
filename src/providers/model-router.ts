/** Finds the provider that answers a model's name for a project. */
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { providerOfName, providersOfName } from '../catalogue/native-names.ts'
import { type DirectProvider, VENDORS } from '../config/vendors.ts'
import { ProxyError, refuse } from '../errors/errors.ts'
import type { Account } from '../postgres/admit.ts'
import type { Collection } from '../postgres/kept-objects.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { modelNotFound, noRouteTo } from './no-route.ts'
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
   * project does not allow. A name in no list goes to the provider whose names look like it. Errors are returned, not thrown, because the
   * key must be checked first. `alternatives` are other models that the request names; `askedAs` is the alias that stands for the model, if
   * it was not named itself: then that is what has to be allowed.
   */
  resolve(model: string, account: Routed, alternatives?: readonly string[], askedAs?: string): Provider | ProxyError
  /** Returns the provider that keeps this project's responses; null when none does. */
  keeperOf(account: Routed): Provider | null
  /**
   * Returns the provider that keeps this project's files or batches, or an error: whom the client names or, where it speaks OpenAI's format,
   * OpenAI or Groq if the project has stored a key for one of them, else the aggregator; Anthropic alone for what is Anthropic's.
   */
  keeperOfObjects(account: Routed, collection: Collection, wanted?: WantedKeeper): Provider | ProxyError
  /** The name of the provider that this model leads to, in the catalogue's prices; null for a name that leads nowhere. */
  nameVendorOf(model: string, account: Routed): DirectProvider | typeof AGGREGATOR | null
  /** The catalogue's models for which `resolve` finds a provider; of two with one name, the one that it would choose. */
  listModels(account: Routed): CatalogueModel[]
  /**
   * The catalogue's entry for the model that this name leads to, or the error. Undefined when a provider would be asked for a model that
   * the catalogue does not have.
   */
  findModel(model: string, account: Routed): CatalogueModel | ProxyError | undefined
}

export interface ModelRouterOptions {
  catalogue: Catalogue
  sandbox: Provider
  /** Null when none is configured. */
  aggregatorFor: ((projectId: number) => Provider) | null
  directFor(name: DirectProvider, account: Routed): Provider
}

/** In order of preference, in case two have a native model of one name. */
export const DIRECT_PROVIDERS: readonly DirectProvider[] = VENDORS.map(({ name }) => name)

const VENDOR_AND_MODEL = /^[^/\s]+\/\S+$/

export function createModelRouter({ catalogue, sandbox, aggregatorFor, directFor }: ModelRouterOptions): ModelRouter {
  function isKnown(model: string): boolean {
    return VENDOR_AND_MODEL.test(model) || catalogue.directProvidersOf(model).length > 0 || hasProvider(model)
  }

  function hasProvider(model: string): boolean {
    return providerOfName(model) !== undefined || catalogue.aliasOf(model) !== undefined
  }

  /** Uses the aggregator's own name, if the client left out the vendor. */
  function findInAggregator(model: string, { project_id }: Routed): Provider | undefined {
    if (!aggregatorFor) return undefined
    if (VENDOR_AND_MODEL.test(model)) return aggregatorFor(project_id)
    const alias = catalogue.aliasOf(model)
    return alias === undefined ? undefined : renameModel(aggregatorFor(project_id), alias)
  }

  const listModels = (account: Routed) => listOffered(catalogue, account, aggregatorFor !== null)

  function resolve(
    model: string,
    account: Routed,
    alternatives: readonly string[] = [],
    askedAs = model,
  ): Provider | ProxyError {
    const refusal = refuseUnallowed([askedAs, ...alternatives], account)
    if (refusal) return refusal
    if (account.key_type === 'test')
      return isKnown(model) ? sandbox : modelNotFound(model, catalogue, listModels(account))
    const direct = findDirect(catalogue, model, account)
    if (direct) return directFor(direct, account)
    const aggregated = findInAggregator(model, account)
    if (aggregated) return aggregated
    if (!VENDOR_AND_MODEL.test(model)) return modelNotFound(model, catalogue, listModels(account))
    const native = catalogue.directProvidersOf(model)
    return native.length > 0 ? noRouteTo(model, native) : refuse('noAggregator')
  }

  return {
    resolve,
    listModels,

    keeperOf(account) {
      const keeps = account.key_type !== 'test' && account.direct_providers.includes('openai')
      return keeps ? directFor('openai', account) : null
    },

    keeperOfObjects: (account, collection, wanted = {}) =>
      keeperOfObjects(account, collection, wanted, {
        aggregator: aggregatorFor && (() => aggregatorFor(account.project_id)),
        direct: name => directFor(name, account),
      }),

    nameVendorOf: (model, account) =>
      findDirect(catalogue, model, account) ?? (findInAggregator(model, account) ? AGGREGATOR : null),

    findModel(model, account) {
      const listed = listModels(account).find(known => known.model === model)
      if (listed) return listed
      const provider = resolve(model, account)
      if (provider instanceof ProxyError) return provider
      const known = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, model)
      return known?.listed ? known : undefined
    },
  }
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
function listOffered(catalogue: Catalogue, account: Routed, hasAggregator: boolean): CatalogueModel[] {
  const isTest = account.key_type === 'test'
  const offers = (provider: string) =>
    isTest || (provider === AGGREGATOR ? hasAggregator : account.direct_providers.includes(provider))
  const byName = new Map<string, CatalogueModel>()
  for (const provider of [AGGREGATOR, ...DIRECT_PROVIDERS.toReversed()].filter(offers)) {
    for (const model of catalogue.listedBy(provider))
      if (isAllowed(model.model, account)) byName.set(model.model, model)
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

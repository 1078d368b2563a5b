/** Which provider answers a model's name for a project. */

import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import type { DirectProvider } from '../config.ts'
import { type ProxyError, refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { modelNotFound, noWayTo } from './no-route.ts'
import type { Provider } from './upstream.ts'

/** What of an account decides. */
export type Routed = Pick<Account, 'key_type' | 'project_id' | 'direct_providers' | 'provider_keys_version'>

export interface Routes {
  /**
   * The provider for this model, or what stands in its way: 404 for a name nobody here knows, 503 where nothing is
   * configured. Returned rather than thrown: a key is judged before its request is.
   */
  resolve(model: string, account: Routed): Provider | ProxyError
  /** What the catalogue has of the models that `resolve` finds a provider for; of two of one name, the one it would take. */
  listModels(account: Routed): CatalogueModel[]
}

export interface RoutesOptions {
  catalogue: Catalogue
  sandbox: Provider
  /** Null where none is configured. */
  aggregatorFor: ((projectId: number) => Provider) | null
  directFor(name: DirectProvider, account: Routed): Provider
}

/** In this order, should two ever have a native model of one name. */
export const DIRECT_PROVIDERS: readonly DirectProvider[] = ['openai', 'anthropic', 'groq']

const VENDOR_AND_MODEL = /^[^/\s]+\/\S+$/

export function createRoutes({ catalogue, sandbox, aggregatorFor, directFor }: RoutesOptions): Routes {
  function findDirect(model: string, account: Routed): DirectProvider | undefined {
    if (account.direct_providers.length === 0) return undefined
    const native = catalogue.directProvidersOf(model)
    return DIRECT_PROVIDERS.find(name => native.includes(name) && account.direct_providers.includes(name))
  }

  return {
    resolve(model, account) {
      const isVendorName = VENDOR_AND_MODEL.test(model)
      if (account.key_type === 'test') {
        const isKnown = isVendorName || catalogue.directProvidersOf(model).length > 0
        return isKnown ? sandbox : modelNotFound(model, account, catalogue)
      }
      const direct = findDirect(model, account)
      if (direct) return directFor(direct, account)
      if (!isVendorName) return modelNotFound(model, account, catalogue)
      if (aggregatorFor) return aggregatorFor(account.project_id)
      const native = catalogue.directProvidersOf(model)
      return native.length > 0 ? noWayTo(model, native) : refuse('noAggregator')
    },

    listModels(account) {
      const isTest = account.key_type === 'test'
      const offered = (provider: string) =>
        isTest || (provider === AGGREGATOR ? aggregatorFor !== null : account.direct_providers.includes(provider))
      const byName = new Map<string, CatalogueModel>()
      for (const provider of [AGGREGATOR, ...DIRECT_PROVIDERS.toReversed()]) {
        if (!offered(provider)) continue
        for (const model of catalogue.listedBy(provider)) byName.set(model.model, model)
      }
      return [...byName.values()].sort((a, b) => (a.model < b.model ? -1 : 1))
    },
  }
}

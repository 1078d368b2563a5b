/** Which provider answers a model's name for a project. */
import type { Config } from '../config.ts'
import { ProxyError } from '../errors.ts'
import type { AdmitRow } from '../postgres/admit.ts'
import { AGGREGATOR, type Catalogue } from '../pricing/catalogue.ts'
import { createConnectionProbe } from './connection-probe.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible.ts'
import type { Provider } from './upstream.ts'

export interface Routes {
  /**
   * The provider for this model, or what stands in its way: 404 for a name nobody here knows, 503 where nothing is
   * configured. Returned rather than thrown: a key is judged before its request is.
   */
  resolve(model: string, account: Pick<AdmitRow, 'key_type' | 'direct_providers'>): Provider | ProxyError
}

export interface RoutesOptions {
  config: Pick<Config, 'aggregator' | 'upstream'>
  catalogue: Catalogue
  sandbox: Provider
}

const VENDOR_AND_MODEL = /^[^/\s]+\/\S+$/

export function createRoutes({ config, catalogue, sandbox }: RoutesOptions): Routes {
  const { name, baseUrl, apiKey } = config.aggregator
  const aggregator =
    apiKey === null
      ? null
      : createOpenAiCompatibleProvider({
          name,
          pricedAs: AGGREGATOR,
          baseUrl,
          apiKey,
          limits: config.upstream,
          probe: createConnectionProbe(),
        })

  return {
    resolve(model, account) {
      const isVendorName = VENDOR_AND_MODEL.test(model)
      const nativeOf = catalogue.directProvidersOf(model)
      if (account.key_type === 'test') {
        return isVendorName || nativeOf.length > 0 ? sandbox : modelNotFound(model, nativeOf)
      }
      if (isVendorName) return aggregator ?? noAggregator()
      return modelNotFound(model, nativeOf)
    },
  }
}

function modelNotFound(model: string, nativeOf: readonly string[]): ProxyError {
  const shown = JSON.stringify(model.slice(0, 100))
  const [vendor] = nativeOf
  const message =
    vendor === undefined
      ? `Model ${shown} is not known. Name it <vendor>/<model>, for example openai/gpt-4o-mini.`
      : `Model ${shown} is a native name of ${nativeOf.join(' and ')}. Use ${vendor}/${model} to reach it through the aggregator.`
  return new ProxyError({ status: 404, code: 'model_not_found', message, param: 'model' })
}

function noAggregator(): ProxyError {
  return new ProxyError({
    status: 503,
    code: 'service_unavailable',
    message:
      'No upstream is configured for <vendor>/<model> names. The operator must set AGGREGATOR_API_KEY; test keys (lgw_test_) are answered without one.',
  })
}

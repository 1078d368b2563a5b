/** What a request is told whose model leads nowhere: what would make it work. */

import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { ProxyError } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'

/** Names shown of a longer list. */
const MAX_SHOWN = 5

/** 404 for a name that no way leads to. */
export function modelNotFound(
  model: string,
  account: Pick<Account, 'key_type' | 'direct_providers'>,
  catalogue: Catalogue,
): ProxyError {
  const native = catalogue.directProvidersOf(model)
  if (native.length > 0) return missingKey(model, native, catalogue)
  const stored = account.key_type === 'test' ? [] : account.direct_providers
  if (stored.length === 0) {
    return notFound(`Model ${show(model)} is not known. Name it <vendor>/<model>, for example openai/gpt-4o-mini.`)
  }
  const names = stored.flatMap(provider => catalogue.listedBy(provider)).map(listed => listed.model)
  return notFound(
    `Model ${show(model)} is not one of the ${names.length} native models of ${stored.join(' and ')}, such as ${pickSimilar(model, names).join(', ')}. ` +
      'GET /v1/models lists what this key can use; other models are named <vendor>/<model>, for example openai/gpt-4o-mini.',
  )
}

/** 404 for a provider's native name where the project has no key for that provider. */
function missingKey(model: string, native: readonly string[], catalogue: Catalogue): ProxyError {
  const alias = native.map(vendor => `${vendor}/${model}`).find(name => catalogue.find(AGGREGATOR, name)?.listed)
  return notFound(
    `Model ${show(model)} is a native name of ${native.join(' and ')}, for which this project has stored no key. ` +
      `Store one, or use ${alias ?? 'a <vendor>/<model> name'} to reach the aggregator.`,
  )
}

/** 503 for a native name with a vendor in front, where there is neither key nor aggregator. */
export function noWayTo(model: string, native: readonly string[]): ProxyError {
  return unavailable(
    `No upstream is configured for model ${show(model)}: the project must store a key for ${native.join(' or ')}, or the operator set AGGREGATOR_API_KEY.`,
  )
}

/** 503 for any other name with a vendor in front. */
export function noAggregator(): ProxyError {
  return unavailable(
    'No upstream is configured for <vendor>/<model> names. The operator must set AGGREGATOR_API_KEY; test keys (lgw_test_) are answered without one.',
  )
}

/** Names that share the longest beginning with what was asked for. */
function pickSimilar(model: string, names: readonly string[]): string[] {
  const asked = model.toLowerCase()
  return [...names].sort((a, b) => sharedBeginning(b, asked) - sharedBeginning(a, asked)).slice(0, MAX_SHOWN)
}

function sharedBeginning(name: string, asked: string): number {
  let length = 0
  while (length < asked.length && name[length] === asked[length]) length++
  return length
}

function show(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}

function notFound(message: string): ProxyError {
  return new ProxyError({ status: 404, code: 'model_not_found', message, param: 'model' })
}

function unavailable(message: string): ProxyError {
  return new ProxyError({ status: 503, code: 'service_unavailable', message })
}

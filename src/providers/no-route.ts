/** What a request is told whose model leads nowhere: what would make it work. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import { providerOfName } from '../catalogue/native-names.ts'
import { ProxyError } from '../errors.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { findSimilar } from './similar-names.ts'
import { unsupportedPath } from './unsupported-endpoint.ts'

/** 404 for a name that no way leads to. `usable`: what the catalogue has that the key can use. */
export function modelNotFound(model: string, catalogue: Catalogue, usable: readonly CatalogueModel[]): ProxyError {
  const native = nativeTo(model, catalogue)
  if (native.length > 0) return missingKey(model, native, catalogue)
  const names = usable.map(listed => listed.model)
  const near = findSimilar(model, names)
  return notFound(
    `Model ${show(model)} is not known. ${near.length > 0 ? `Near to it: ${near.join(', ')}. ` : ''}` +
      'GET /v1/models lists what this key can use; any model of the aggregator is named <vendor>/<model>, for example openai/gpt-4o-mini.',
  )
}

/** The providers that list the name; else the one whose names look so. */
function nativeTo(model: string, catalogue: Catalogue): readonly string[] {
  const listed = catalogue.directProvidersOf(model)
  const looked = providerOfName(model)
  return listed.length > 0 || looked === undefined ? listed : [looked]
}

/** 404 for a provider's native name where the project has no key for that provider, and no aggregator has the model. */
function missingKey(model: string, native: readonly string[], catalogue: Catalogue): ProxyError {
  const alias = catalogue.aliasOf(model)
  return notFound(
    `Model ${show(model)} is a native name of ${native.join(' and ')}, for which this project has stored no key. ` +
      `Store one, or ${alias ? `have the operator set AGGREGATOR_API_KEY to reach it as ${alias}` : 'use a <vendor>/<model> name to reach the aggregator'}.`,
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

/** Where nobody keeps files and batches; `as`: who kept them before. */
export function noFileKeeper(as?: string): ProxyError {
  if (as !== undefined) return notFound(`It is kept under the project's ${as} key, which is no longer stored.`)
  return unavailable(
    'No upstream is configured for files and batches: the project must store a key for openai or groq, or the operator set AGGREGATOR_API_KEY.',
  )
}

/** 404 for test keys. */
export function noFilesInSandbox(): ProxyError {
  return unsupportedPath('The sandbox, which answers test keys,', '/files and no /v1/batches')
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

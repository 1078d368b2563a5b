/** The errors for a model without a route: they say what would make it work. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import { providerOfName } from '../catalogue/native-names.ts'
import { type ProxyError, refuse } from '../errors.ts'
import type { Collection } from '../postgres/kept-objects.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { findSimilar } from './similar-names.ts'

/** 404 for a name without any route. `usable` are the catalogue's models that the key can use. */
export function modelNotFound(model: string, catalogue: Catalogue, usable: readonly CatalogueModel[]): ProxyError {
  const native = nativeTo(model, catalogue)
  if (native.length > 0) return needsKey(model, native, catalogue)
  const names = usable.map(listed => listed.model)
  const near = findSimilar(model, names)
  if (near.length === 0) return refuse('modelUnknown', { model: show(model) })
  return refuse('modelMisspelt', { model: show(model), near: near.join(', ') })
}

/** The providers that list the name; else the one whose names look like it. */
function nativeTo(model: string, catalogue: Catalogue): readonly string[] {
  const listed = catalogue.directProvidersOf(model)
  const looked = providerOfName(model)
  return listed.length > 0 || looked === undefined ? listed : [looked]
}

/** 404 for a provider's native name when the project has no key for that provider, and no aggregator has the model. */
function needsKey(model: string, native: readonly string[], catalogue: Catalogue): ProxyError {
  const alias = catalogue.aliasOf(model)
  return refuse('modelNeedsKey', {
    model: show(model),
    providers: native.join(' and '),
    alternative: alias
      ? `have the operator set AGGREGATOR_API_KEY to reach it as ${alias}`
      : 'use a <vendor>/<model> name to reach the aggregator',
  })
}

/** 503 for a native name with a vendor in front, when there is neither key nor aggregator. */
export function noRouteTo(model: string, native: readonly string[]): ProxyError {
  return refuse('noUpstreamForVendor', { model: show(model), providers: native.join(' or ') })
}

/** The error when no provider keeps what is in the collection; `as` is the former keeper. */
export function noKeeper(collection: Collection, as?: string): ProxyError {
  if (as !== undefined) return refuse('keeperGone', { provider: as })
  return collection === 'message_batches' ? refuse('noMessageBatches') : refuse('noFileKeeper')
}

/** 404 for test keys. */
export function nothingKeptInSandbox(): ProxyError {
  return refuse('pathUnsupported', {
    vendor: 'The sandbox, which answers test keys,',
    path: '/files and no batches',
  })
}

function show(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}

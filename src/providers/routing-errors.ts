/** The errors for a model without a route: they say what would make it work. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import { matchProvider, matchProviders } from '../catalogue/vendor-model-names.ts'
import { mapVendors, VENDORS } from '../config/vendors.ts'
import { createError, type ProxyError } from '../errors/errors.ts'
import type { ObjectCollection } from '../postgres/stored-objects.ts'
import { type ClientVendor, COLLECTION_PATHS } from './pass-through-operations.ts'
import { findSimilarNames } from './similar-names.ts'

/** 404 for a name without any route. `usable` are the catalogue's models that the key can use. */
export function modelNotFoundError(
  model: string,
  catalogue: Catalogue,
  usable: readonly { model: string }[],
): ProxyError {
  const native = nativeTo(model, catalogue)
  if (native.length > 0) return needsKey(model, native, catalogue)
  const names = usable.map(listed => listed.model)
  const near = findSimilarNames(model, names)
  if (near.length === 0) return createError('modelNotFound', { model: quoteModel(model) })
  return createError('modelMisspelled', { model: quoteModel(model), near: near.join(', ') })
}

/** The providers that list the name; else the one whose names look like it. */
function nativeTo(model: string, catalogue: Catalogue): readonly string[] {
  const listed = catalogue.directProvidersOf(model)
  const looked = matchProvider(model)
  return listed.length > 0 || looked === undefined ? listed : [looked]
}

/** 404 for a provider's native name when the project has no key for that provider, and no aggregator has the model. */
function needsKey(model: string, native: readonly string[], catalogue: Catalogue): ProxyError {
  const alias = catalogue.aggregatorNameOf(model)
  return createError('modelNeedsKey', {
    model: quoteModel(model),
    providers: native.join(' and '),
    alternative: alias
      ? `have the operator set AGGREGATOR_API_KEY to reach it as ${alias}`
      : 'use a <vendor>/<model> name to reach the aggregator',
  })
}

/** 503 for a name with a vendor in front, when there is neither an aggregator nor a key for a provider that has the model. */
export function noRouteError(model: string, catalogue: Catalogue): ProxyError {
  const looked: readonly string[] = [...catalogue.directProvidersOf(model), ...matchProviders(model)]
  const native = VENDORS.map(({ name }) => name).filter(
    name => looked.includes(name) || catalogue.nativeNameOf(name, model) !== undefined,
  )
  if (native.length === 0) return createError('noAggregator')
  return createError('noUpstreamForVendor', { model: quoteModel(model), providers: native.join(' or ') })
}

const NAMED: Record<ClientVendor, { title: string; missing: string }> = {
  ...mapVendors(({ title }) => ({ title, missing: 'this project has stored no key for it. Store one.' })),
  aggregator: { title: 'the aggregator', missing: 'its AGGREGATOR_API_KEY is not set.' },
  google: { title: 'Google', missing: 'this proxy reaches it for models alone.' },
}

/** The error when no provider keeps what is in the collection; `vendor` is whom the client names. */
export function noStorageProviderError(collection: ObjectCollection, vendor?: ClientVendor): ProxyError {
  if (collection === 'message_batches') return createError('messageBatchesNeedKey')
  if (collection === 'anthropic_files') return noKeeperNamed(collection, 'anthropic')
  return vendor === undefined ? createError('noStorageProvider') : noKeeperNamed(collection, vendor)
}

function noKeeperNamed(collection: ObjectCollection, vendor: ClientVendor): ProxyError {
  const path = COLLECTION_PATHS[collection]
  const { title, missing } = NAMED[vendor]
  const isKnown = vendor !== 'anthropic' || collection === 'anthropic_files'
  return createError('vendorHasNoStorage', { title, path, missing: isKnown ? missing : `it has no /v1${path}.` })
}

/** 404 for test keys. */
export function sandboxStorageError(): ProxyError {
  return createError('pathUnsupported', {
    vendor: 'The sandbox, which answers test keys,',
    path: '/files and no batches',
  })
}

/** Of a name, what a message may show. */
export function quoteModel(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}

/** Creates the errors for models and collections without a provider. Their messages name a way to fix the request or the configuration. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { VendorDirectory } from '../catalogue/vendor-directory.ts'
import { baseUrlVariableOf } from '../config/vendors.ts'
import { createError, type ProxyError } from '../errors/errors.ts'
import type { ClientVendor } from './pass-through-operations.ts'
import { findSimilarNames } from './similar-names.ts'
import { type StoredObjectCollection, traitsOf } from './stored-object-collections.ts'

/** Returns a 404 for a name without a route. `usable` are the models that the key can use. */
export function modelNotFoundError(
  model: string,
  catalogue: Catalogue,
  usable: readonly { model: string }[],
): ProxyError {
  const native = findNativeProviders(model, catalogue)
  if (native.length > 0) return modelNeedsKeyError(model, native, catalogue)
  const names = usable.map(listed => listed.model)
  const near = findSimilarNames(model, names)
  if (near.length === 0) return createError('modelNotFound', { model: quoteModel(model) })
  return createError('modelMisspelled', { model: quoteModel(model), near: near.join(', ') })
}

/** Returns the direct providers that list the name; when none does, the one whose names look like it. */
function findNativeProviders(model: string, catalogue: Catalogue): readonly string[] {
  const listed = catalogue.directProvidersOf(model)
  const [matched] = catalogue.vendors.matchNames(model)
  return listed.length > 0 || matched === undefined ? listed : [matched]
}

/** Returns a 404 for a provider's native name when the project has no key for that provider, and no aggregator has the model. */
function modelNeedsKeyError(model: string, native: readonly string[], catalogue: Catalogue): ProxyError {
  const alias = catalogue.aggregatorNameOf(model)
  return createError('modelNeedsKey', {
    model: quoteModel(model),
    providers: native.join(' and '),
    alternative: alias
      ? `have the operator set AGGREGATOR_API_KEY to reach it as ${alias}`
      : 'use a <vendor>/<model> name to reach the aggregator',
  })
}

/** Returns a 503 for a name with a vendor prefix when there is neither an aggregator nor a key for a provider that has the model. */
export function noRouteError(model: string, catalogue: Catalogue): ProxyError {
  const vendor = catalogue.vendors.findByPrefix(model)
  if (vendor?.key_location === 'none') {
    const setting = baseUrlVariableOf(vendor.name)
    return createError('localServerNotSet', { model: quoteModel(model), title: vendor.title, setting })
  }
  const candidates: readonly string[] = [...catalogue.directProvidersOf(model), ...catalogue.vendors.matchNames(model)]
  const native = catalogue.vendors.names.filter(
    name => candidates.includes(name) || catalogue.nativeNameOf(name, model) !== undefined,
  )
  if (native.length === 0) return createError('noAggregator')
  return createError('noUpstreamForVendor', { model: quoteModel(model), providers: native.join(' or ') })
}

const STORAGE_MESSAGES: Readonly<Record<string, { title: string; missing: string }>> = {
  aggregator: { title: 'the aggregator', missing: 'Its AGGREGATOR_API_KEY is not set.' },
  google: { title: 'Google', missing: 'This proxy sends it model requests only.' },
}

/** Returns the error for a collection that no provider of the project stores. `vendor` is the vendor that the client names. */
export function noStorageProviderError(
  collection: StoredObjectCollection,
  vendors: VendorDirectory,
  vendor?: ClientVendor,
): ProxyError {
  if (collection === 'message_batches') return createError('messageBatchesNeedKey')
  if (collection === 'anthropic_files') return vendorHasNoStorageError(collection, vendors, 'anthropic')
  return vendor === undefined ? createError('noStorageProvider') : vendorHasNoStorageError(collection, vendors, vendor)
}

function vendorHasNoStorageError(
  collection: StoredObjectCollection,
  vendors: VendorDirectory,
  vendor: ClientVendor,
): ProxyError {
  const { path } = traitsOf(collection)
  const { title, missing } = STORAGE_MESSAGES[vendor] ?? {
    title: vendors.find(vendor)?.title ?? vendor,
    missing: 'This project has stored no key for it. Store one.',
  }
  const hasPath = vendor !== 'anthropic' || collection === 'anthropic_files'
  return createError('vendorHasNoStorage', { title, path, missing: hasPath ? missing : `It has no /v1${path}.` })
}

/** Returns a 404 for files and batches of test keys. */
export function sandboxStorageError(): ProxyError {
  return createError('pathUnsupported', {
    vendor: 'The sandbox, which answers test keys,',
    path: '/files and no batches',
  })
}

/** Returns the name in quotation marks, shortened for a message. */
export function quoteModel(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}

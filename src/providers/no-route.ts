/** The errors for a model without a route: they say what would make it work. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import { providerOfName, providersOfName } from '../catalogue/native-names.ts'
import { byVendor, VENDORS } from '../config/vendors.ts'
import { type ProxyError, refuse } from '../errors/errors.ts'
import type { Collection } from '../postgres/kept-objects.ts'
import { COLLECTION_PATHS, type NamedVendor } from './operations.ts'
import { findSimilar } from './similar-names.ts'

/** 404 for a name without any route. `usable` are the catalogue's models that the key can use. */
export function modelNotFound(model: string, catalogue: Catalogue, usable: readonly { model: string }[]): ProxyError {
  const native = nativeTo(model, catalogue)
  if (native.length > 0) return needsKey(model, native, catalogue)
  const names = usable.map(listed => listed.model)
  const near = findSimilar(model, names)
  if (near.length === 0) return refuse('modelUnknown', { model: showModel(model) })
  return refuse('modelMisspelt', { model: showModel(model), near: near.join(', ') })
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
    model: showModel(model),
    providers: native.join(' and '),
    alternative: alias
      ? `have the operator set AGGREGATOR_API_KEY to reach it as ${alias}`
      : 'use a <vendor>/<model> name to reach the aggregator',
  })
}

/** 503 for a name with a vendor in front, when there is neither an aggregator nor a key for a provider that has the model. */
export function noRouteTo(model: string, catalogue: Catalogue): ProxyError {
  const looked: readonly string[] = [...catalogue.directProvidersOf(model), ...providersOfName(model)]
  const native = VENDORS.map(({ name }) => name).filter(
    name => looked.includes(name) || catalogue.nativeOf(name, model) !== undefined,
  )
  if (native.length === 0) return refuse('noAggregator')
  return refuse('noUpstreamForVendor', { model: showModel(model), providers: native.join(' or ') })
}

const NAMED: Record<NamedVendor, { title: string; missing: string }> = {
  ...byVendor(({ title }) => ({ title, missing: 'this project has stored no key for it. Store one.' })),
  aggregator: { title: 'the aggregator', missing: 'its AGGREGATOR_API_KEY is not set.' },
  google: { title: 'Google', missing: 'this proxy reaches it for models alone.' },
}

/** The error when no provider keeps what is in the collection; `vendor` is whom the client names. */
export function noKeeper(collection: Collection, vendor?: NamedVendor): ProxyError {
  if (collection === 'message_batches') return refuse('noMessageBatches')
  if (collection === 'anthropic_files') return noKeeperNamed(collection, 'anthropic')
  return vendor === undefined ? refuse('noFileKeeper') : noKeeperNamed(collection, vendor)
}

function noKeeperNamed(collection: Collection, vendor: NamedVendor): ProxyError {
  const path = COLLECTION_PATHS[collection]
  const { title, missing } = NAMED[vendor]
  const isKnown = vendor !== 'anthropic' || collection === 'anthropic_files'
  return refuse('vendorKeepsNothing', { title, path, missing: isKnown ? missing : `it has no /v1${path}.` })
}

/** 404 for test keys. */
export function nothingKeptInSandbox(): ProxyError {
  return refuse('pathUnsupported', {
    vendor: 'The sandbox, which answers test keys,',
    path: '/files and no batches',
  })
}

/** Of a name, what a message may show. */
export function showModel(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}

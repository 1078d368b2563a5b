/** What a request is told whose model leads nowhere: what would make it work. */

import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { type ProxyError, refuse } from '../errors.ts'
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
  if (native.length > 0) return needsKey(model, native, catalogue)
  const stored = account.key_type === 'test' ? [] : account.direct_providers
  if (stored.length === 0) {
    return refuse('modelUnknown', { model: show(model) })
  }
  const names = stored.flatMap(provider => catalogue.listedBy(provider)).map(listed => listed.model)
  return refuse('modelNotNative', {
    model: show(model),
    count: names.length,
    providers: stored.join(' and '),
    similar: pickSimilar(model, names).join(', '),
  })
}

/** 404 for a provider's native name where the project has no key for that provider. */
function needsKey(model: string, native: readonly string[], catalogue: Catalogue): ProxyError {
  const alias = native.map(vendor => `${vendor}/${model}`).find(name => catalogue.find(AGGREGATOR, name)?.listed)
  return refuse('modelNeedsKey', {
    model: show(model),
    providers: native.join(' and '),
    alternative: alias ?? 'a <vendor>/<model> name',
  })
}

/** 503 for a native name with a vendor in front, where there is neither key nor aggregator. */
export function noWayTo(model: string, native: readonly string[]): ProxyError {
  return refuse('noUpstreamForVendor', { model: show(model), providers: native.join(' or ') })
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

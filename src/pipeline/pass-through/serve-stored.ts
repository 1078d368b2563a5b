/** Serves the stored response of a pass-through operation. */
import type { Match } from '../../cache/match.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { NO_USAGE } from '../../catalogue/cost.ts'
import type { ProxyResponse } from '../exchange.ts'
import { hitHeaders, JSON_TYPE } from '../response-headers.ts'
import type { PassedContext } from './passed-context.ts'
import { asPriced, priceOfPassed } from './passed-usage.ts'
import { readSound } from './stored-sound.ts'

/** Returns null when the entry is not in this version's format. */
export function serveStored(context: PassedContext, match: Match, catalogue: Catalogue): ProxyResponse | null {
  const { query, provider, accounting } = context
  const { entry } = match
  const sound = query.endpoint === 'audio/speech' ? readSound(entry.body) : { ...JSON_BODY, bytes: entry.body }
  if (!sound) return null
  const used = { ...NO_USAGE, promptTokens: entry.promptTokens, completionTokens: entry.completionTokens }
  const reported = entry.promptTokens + entry.completionTokens > 0 ? used : null
  const { priced, usage } = asPriced(reported, priceOfPassed(context, reported, catalogue))
  accounting.noteHeaders()
  accounting.finish({
    status: 200,
    counts: true,
    cacheResult: 'HIT',
    provider: entry.provider,
    pricedAs: priced ? provider.pricedAs : null,
    usage,
  })
  return { status: 200, headers: { 'content-type': sound.contentType, ...hitHeaders(match, 0) }, body: sound.bytes }
}

const JSON_BODY = { contentType: JSON_TYPE['content-type'] }

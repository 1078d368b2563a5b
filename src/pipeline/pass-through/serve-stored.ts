/** Serves a stored answer of a passed operation as it was. */
import type { Match } from '../../cache/match.ts'
import { NO_USAGE } from '../../catalogue/cost.ts'
import type { ProxyResponse } from '../exchange.ts'
import { hitHeaders, JSON_TYPE } from '../response-headers.ts'
import type { PassedContext } from './passed-context.ts'
import { readSound } from './stored-sound.ts'

/** Null where what is stored is not what this version stores. */
export function serveStored({ query, provider, accounting }: PassedContext, match: Match): ProxyResponse | null {
  const { entry } = match
  const sound = query.endpoint === 'audio/speech' ? readSound(entry.body) : { ...JSON_BODY, bytes: entry.body }
  if (!sound) return null
  accounting.noteHeaders()
  accounting.finish({
    status: 200,
    counts: true,
    cacheResult: 'HIT',
    provider: entry.provider,
    pricedAs: provider.pricedAs,
    usage: { ...NO_USAGE, promptTokens: entry.promptTokens, completionTokens: entry.completionTokens },
  })
  return { status: 200, headers: { 'content-type': sound.contentType, ...hitHeaders(match, 0) }, body: sound.bytes }
}

const JSON_BODY = { contentType: JSON_TYPE['content-type'] }

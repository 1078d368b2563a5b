/** Answers from the cache: the stored body as it is, or replayed as the stream it would have been. */

import type { Match } from '../cache/cache.ts'
import { encodeSse, splitAnswer } from '../openai-format/split.ts'
import type { ProxyResponse } from './exchange.ts'
import type { Ledger } from './ledger.ts'
import { hitHeaders, JSON_TYPE, SSE_TYPE } from './proxy-headers.ts'
import type { ParsedBody } from './read-request.ts'

const decoder = new TextDecoder()

export function answerHit(match: Match, parsed: ParsedBody, pricedAs: string | null, ledger: Ledger): ProxyResponse {
  const { entry } = match
  const response: ProxyResponse = parsed.stream
    ? { status: 200, headers: { ...SSE_TYPE, ...hitHeaders(match) }, body: replay(entry.body, parsed.includeUsage) }
    : { status: 200, headers: { ...JSON_TYPE, ...hitHeaders(match) }, body: entry.body }
  ledger.noteHeaders()
  ledger.close({
    status: 200,
    cacheResult: match.result,
    provider: entry.provider,
    pricedAs,
    model: parsed.model,
    usage: {
      promptTokens: entry.promptTokens,
      cachedPromptTokens: 0,
      completionTokens: entry.completionTokens,
      reportedCostUsd: null,
    },
  })
  return response
}

/** With and without usage, for as long as anybody holds the plain answer: all who followed one flight replay the same. */
const replays = { withUsage: new WeakMap<Uint8Array, Uint8Array>(), without: new WeakMap<Uint8Array, Uint8Array>() }

/** The plain answer as an event stream. */
export function replay(body: Uint8Array, includeUsage: boolean): Uint8Array {
  const known = includeUsage ? replays.withUsage : replays.without
  let events = known.get(body)
  if (!events) {
    events = encodeSse(splitAnswer(JSON.parse(decoder.decode(body)), { includeUsage }))
    known.set(body, events)
  }
  return events
}

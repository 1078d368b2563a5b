/** Stored responses of operations that are passed on: what may be stored, in which form, and how it is served again. */
import { isUtf8 } from 'node:buffer'
import type { Match } from '../../cache/entry.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { storeResponse } from '../complete-call.ts'
import type { PassedQuery } from '../query.ts'
import type { ProxyResponse } from '../request.ts'
import type { LeadingContext, RoutedContext, Stages } from '../request-context.ts'
import { JSON_TYPE } from '../response-headers.ts'
import { hitHeaders } from '../serve-hit.ts'
import { priceOfPassed, withCost } from './passed-usage.ts'

/** Audio as it came. */
interface Sound {
  contentType: string
  bytes: Uint8Array
}

export interface AnswerToKeep extends Sound {
  /** Whether it is JSON with results. */
  hasResults: boolean
}

/** Longer audio is relayed and not stored: some four minutes of mp3. */
export const MAX_SOUND_BYTES = 1_500_000

/** Returns null when the entry is not in this version's format. */
export function serveStored(context: RoutedContext<PassedQuery>, match: Match, stages: Stages): ProxyResponse | null {
  const { query, recorder } = context
  const { entry } = match
  const sound = query.endpoint === 'audio/speech' ? readSound(entry.body) : { ...JSON_BODY, bytes: entry.body }
  if (!sound) return null
  const { promptTokens, completionTokens } = entry
  const usage = promptTokens + completionTokens > 0 ? { ...NO_USAGE, promptTokens, completionTokens } : NO_USAGE
  recorder.recordHeadersReady()
  recorder.recordHit(match)
  const spent = withCost(usage, priceOfPassed(context, usage, stages))
  recorder.finish({ status: 200, counts: true, cacheResult: 'HIT', usage: spent })
  return { status: 200, headers: { 'content-type': sound.contentType, ...hitHeaders(match, 0) }, body: sound.bytes }
}

const JSON_BODY = { contentType: JSON_TYPE['content-type'] }

/** Returns the stored bytes, or null if nothing was stored. Resolves when an immediate repeat finds the entry. Never throws. */
export async function storePassed(
  context: LeadingContext<PassedQuery>,
  answer: AnswerToKeep,
  usage: TokenUsage,
  stages: Stages,
): Promise<Uint8Array | null> {
  const { query, cacheQuery, control } = context
  const bytes = cacheQuery && control.store ? writeBody(query.endpoint, answer) : null
  if (bytes) await storeResponse(context, { bytes, isSemantic: false, isStreamed: false, policy: null }, usage, stages)
  return bytes
}

/** Returns null for an incomplete response. */
function writeBody(endpoint: string, answer: AnswerToKeep): Uint8Array | null {
  const { contentType, bytes, hasResults } = answer
  if (endpoint === 'audio/speech') {
    const isSound = contentType.startsWith('audio/') && bytes.length > 0 && bytes.length <= MAX_SOUND_BYTES
    return isSound ? writeSound(answer) : null
  }
  return hasResults && isUtf8(bytes) ? bytes : null
}

/** In base64 beside its content type, because entries are text. */
function writeSound({ contentType, bytes }: Sound): Uint8Array {
  const sound = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  return Buffer.from(`{"content_type":${JSON.stringify(contentType)},"base64":"${sound}"}`)
}

/** Returns null for anything else. */
function readSound(stored: Uint8Array): Sound | null {
  const { content_type, base64 } = parseJsonObject(new TextDecoder().decode(stored)) ?? {}
  if (typeof content_type !== 'string' || typeof base64 !== 'string') return null
  return { contentType: content_type, bytes: Buffer.from(base64, 'base64') }
}

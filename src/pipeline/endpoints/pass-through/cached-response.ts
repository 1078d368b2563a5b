/** Stored responses of operations that are passed on: what may be stored, in which form, and how it is served again. */
import { isUtf8 } from 'node:buffer'
import type { CachedResponseMatch } from '../../../cache/entry.ts'
import { parseJsonObject } from '../../../formats/json/canonical.ts'
import { NO_USAGE, type TokenUsage } from '../../../formats/token-usage.ts'
import type { LeaderContext, PipelineServices, RoutedContext } from '../../context/request-context.ts'
import type { PassThroughQuery } from '../../request/query.ts'
import type { ProxyResponse } from '../../request/request.ts'
import { storeResponse } from '../../response/complete-call.ts'
import { JSON_HEADERS } from '../../response/response-headers.ts'
import { createHitHeaders } from '../../response/serve-hit.ts'
import { applyCost, calculatePassThroughCost } from '../../spending/pass-through-usage.ts'

/** Audio as it came. */
interface Sound {
  contentType: string
  bytes: Uint8Array
}

export interface CacheableResponse extends Sound {
  /** Whether it is JSON with results. */
  hasResults: boolean
}

/** Longer audio is relayed and not stored: some four minutes of mp3. */
export const MAX_CACHED_AUDIO_BYTES = 1_500_000

/** Returns null when the entry is not in this version's format. */
export function servePassThroughHit(
  context: RoutedContext<PassThroughQuery>,
  match: CachedResponseMatch,
  stages: PipelineServices,
): ProxyResponse | null {
  const { query, recorder } = context
  const { entry } = match
  const sound = query.endpoint === 'audio/speech' ? readSound(entry.body) : { ...JSON_BODY, bytes: entry.body }
  if (!sound) return null
  const { promptTokens, completionTokens } = entry
  const usage = promptTokens + completionTokens > 0 ? { ...NO_USAGE, promptTokens, completionTokens } : NO_USAGE
  recorder.recordHeadersSent()
  recorder.recordHit(match)
  const spent = applyCost(usage, calculatePassThroughCost(context, usage, stages))
  recorder.finish({ status: 200, isCounted: true, cacheResult: 'HIT', usage: spent })
  return {
    status: 200,
    headers: { 'content-type': sound.contentType, ...createHitHeaders(match, 0) },
    body: sound.bytes,
  }
}

const JSON_BODY = { contentType: JSON_HEADERS['content-type'] }

/** Returns the stored bytes, or null if nothing was stored. Resolves when an immediate repeat finds the entry. Never throws. */
export async function storePassThroughResponse(
  context: LeaderContext<PassThroughQuery>,
  answer: CacheableResponse,
  usage: TokenUsage,
  stages: PipelineServices,
): Promise<Uint8Array | null> {
  const { query, cacheQuery, control } = context
  const bytes = cacheQuery && control.store ? writeBody(query.endpoint, answer) : null
  if (bytes) await storeResponse(context, { bytes, isSemantic: false, isStreamed: false, policy: null }, usage, stages)
  return bytes
}

/** Returns null for an incomplete response. */
function writeBody(endpoint: string, answer: CacheableResponse): Uint8Array | null {
  const { contentType, bytes, hasResults } = answer
  if (endpoint === 'audio/speech') {
    const isSound = contentType.startsWith('audio/') && bytes.length > 0 && bytes.length <= MAX_CACHED_AUDIO_BYTES
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

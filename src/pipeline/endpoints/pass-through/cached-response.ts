/** Caches responses of pass-through operations: which are stored, in which format, and how hits are served. */
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

/** Audio in the provider's format. */
interface AudioBody {
  contentType: string
  bytes: Uint8Array
}

export interface CacheableResponse extends AudioBody {
  /** Whether the response is JSON with results. */
  hasResults: boolean
}

/** Longer audio is relayed and not stored. The limit is about four minutes of mp3. */
export const MAX_CACHED_AUDIO_BYTES = 1_500_000

/** Serves a cached response. Returns null if the entry is not in this version's format. */
export function servePassThroughHit(
  context: RoutedContext<PassThroughQuery>,
  match: CachedResponseMatch,
  stages: PipelineServices,
): ProxyResponse | null {
  const { query, recorder } = context
  const { entry } = match
  const audio = query.endpoint === 'audio/speech' ? decodeAudio(entry.body) : { ...JSON_BODY, bytes: entry.body }
  if (!audio) return null
  const { promptTokens, completionTokens } = entry
  const usage = promptTokens + completionTokens > 0 ? { ...NO_USAGE, promptTokens, completionTokens } : NO_USAGE
  recorder.recordHeadersSent()
  recorder.recordHit(match)
  const savedUsage = applyCost(usage, calculatePassThroughCost(context, usage, stages))
  recorder.finish({ status: 200, isCounted: true, cacheResult: 'HIT', usage: savedUsage })
  return {
    status: 200,
    headers: { 'content-type': audio.contentType, ...createHitHeaders(match, 0) },
    body: audio.bytes,
  }
}

const JSON_BODY = { contentType: JSON_HEADERS['content-type'] }

/** Stores the response. Returns the stored bytes, or null if nothing was stored. Resolves when a repeat can hit. Never throws. */
export async function storePassThroughResponse(
  context: LeaderContext<PassThroughQuery>,
  response: CacheableResponse,
  usage: TokenUsage,
  stages: PipelineServices,
): Promise<Uint8Array | null> {
  const { query, cacheQuery, control } = context
  const bytes = cacheQuery && control.store ? encodeBody(query.endpoint, response) : null
  if (bytes) await storeResponse(context, { bytes, isSemantic: false, isStreamed: false, policy: null }, usage, stages)
  return bytes
}

/** Returns null for an incomplete response. */
function encodeBody(endpoint: string, response: CacheableResponse): Uint8Array | null {
  const { contentType, bytes, hasResults } = response
  if (endpoint === 'audio/speech') {
    const isAudio = contentType.startsWith('audio/') && bytes.length > 0 && bytes.length <= MAX_CACHED_AUDIO_BYTES
    return isAudio ? encodeAudio(response) : null
  }
  return hasResults && isUtf8(bytes) ? bytes : null
}

/** Encodes audio in base64 with its content type, because cache entries are text. */
function encodeAudio({ contentType, bytes }: AudioBody): Uint8Array {
  const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  return Buffer.from(`{"content_type":${JSON.stringify(contentType)},"base64":"${audio}"}`)
}

/** Decodes cached audio. Returns null for any other entry. */
function decodeAudio(stored: Uint8Array): AudioBody | null {
  const { content_type, base64 } = parseJsonObject(new TextDecoder().decode(stored)) ?? {}
  if (typeof content_type !== 'string' || typeof base64 !== 'string') return null
  return { contentType: content_type, bytes: Buffer.from(base64, 'base64') }
}

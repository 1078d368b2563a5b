/** Stores a complete response of a pass-through operation, if it may be stored. */
import { isUtf8 } from 'node:buffer'
import type { Cache } from '../../cache/cache.ts'
import { NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import type { PassedContext } from './passed-context.ts'
import { MAX_SOUND_BYTES, type Sound, writeSound } from './stored-sound.ts'

export interface AnswerToKeep extends Sound {
  /** Whether it is JSON with results. */
  hasResults: boolean
}

/** Returns the stored bytes, or null if nothing was stored. Resolves when an immediate repeat finds the entry. Never throws. */
export async function storePassed(
  { query, provider, cacheQuery }: PassedContext,
  answer: AnswerToKeep,
  usage: TokenUsage | null,
  cache: Cache,
): Promise<Uint8Array | null> {
  const body = cacheQuery?.control.store ? writeBody(query.endpoint, answer) : null
  if (!cacheQuery || body === null) return null
  const { promptTokens, completionTokens } = usage ?? NO_USAGE
  await cache.store(
    cacheQuery,
    { body, provider: provider.name, promptTokens, completionTokens, isSemantic: false },
    null,
  )
  return body
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

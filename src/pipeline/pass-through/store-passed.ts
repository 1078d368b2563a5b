/** Keeps a whole answer of a passed operation, where it may be kept. */
import { isUtf8 } from 'node:buffer'
import type { Cache } from '../../cache/cache.ts'
import { NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import type { PassedContext } from './passed-context.ts'
import { MAX_SOUND_BYTES, type Sound, writeSound } from './stored-sound.ts'

export interface AnswerToKeep extends Sound {
  /** Whether it is JSON with results. */
  hasResults: boolean
}

/** The bytes that were kept, or null for nothing. Resolves when an immediate repeat finds it. Never throws. */
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

/** Null for what is no whole answer. */
function writeBody(endpoint: string, answer: AnswerToKeep): Uint8Array | null {
  const { contentType, bytes, hasResults } = answer
  if (endpoint === 'audio/speech') {
    const isSound = contentType.startsWith('audio/') && bytes.length > 0 && bytes.length <= MAX_SOUND_BYTES
    return isSound ? writeSound(answer) : null
  }
  return hasResults && isUtf8(bytes) ? bytes : null
}

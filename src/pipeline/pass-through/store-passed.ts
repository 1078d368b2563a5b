/** Keeps a whole answer of a passed operation, where it may be kept. */
import type { Cache } from '../../cache/cache.ts'
import { NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import { parseJsonObject } from '../../json/json-object.ts'
import type { PassedContext } from './passed-context.ts'
import { MAX_SOUND_BYTES, type Sound, writeSound } from './stored-sound.ts'

/** What was kept, or null for nothing. Resolves when an immediate repeat finds it. Never throws. */
export async function storePassed(
  { query, provider, cacheQuery }: PassedContext,
  answer: Sound,
  usage: TokenUsage | null,
  cache: Cache,
): Promise<string | null> {
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
function writeBody(endpoint: string, answer: Sound): string | null {
  const { contentType, bytes } = answer
  if (endpoint === 'audio/speech') {
    const isSound = contentType.startsWith('audio/') && bytes.length > 0 && bytes.length <= MAX_SOUND_BYTES
    return isSound ? writeSound(answer) : null
  }
  const text = new TextDecoder().decode(bytes)
  const results = parseJsonObject(text)?.results
  return Array.isArray(results) && results.length > 0 ? text : null
}

/** Marks for prompt caching, in Anthropic's form and in OpenAI's. */
import type { CacheControlEphemeral, ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../json/canonical.ts'
import { readChoice, readGiven, readObject } from '../../../json/read-fields.ts'

export interface CacheMark {
  cache_control?: CacheControlEphemeral
}

/** Returns the mark of a message, part or tool as fields for its block; empty when it has none. */
export function readCacheMark(marked: JsonObject, param: string): CacheMark {
  const own = readGiven(marked, 'cache_control')
  if (own !== undefined) return { cache_control: readOwnMark(own, `${param}.cache_control`) }
  const breakpoint = readGiven(marked, 'prompt_cache_breakpoint')
  if (breakpoint === undefined) return {}
  const { ttl } = readObject(breakpoint, `${param}.prompt_cache_breakpoint`)
  // OpenAI's shortest lifetime is half an hour, Anthropic's longer one an hour.
  return { cache_control: typeof ttl === 'string' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/** Moves a whole message's mark to the last block that can have one. */
export function markLast(blocks: ContentBlockParam[], message: JsonObject, param: string): ContentBlockParam[] {
  const mark = readCacheMark(message, param)
  const last = blocks.findLast(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  if (last) Object.assign(last, mark)
  return blocks
}

function readOwnMark(value: unknown, param: string): CacheControlEphemeral {
  const mark = readObject(value, param)
  const type = readChoice(mark.type, `${param}.type`, ['ephemeral'])
  const ttl = readGiven(mark, 'ttl')
  return ttl === undefined ? { type } : { type, ttl: readChoice(ttl, `${param}.ttl`, ['5m', '1h']) }
}

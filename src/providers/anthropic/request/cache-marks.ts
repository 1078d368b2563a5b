/** Marks for prompt caching, in Anthropic's form and in OpenAI's. */
import type { CacheControlEphemeral, ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readChoice, readGiven, readObject } from '../../../formats/json/read-fields.ts'
import type { MessagesRequest } from '../messages-request.ts'

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
  markBlock(blocks, readCacheMark(message, param))
  return blocks
}

function markBlock(blocks: ContentBlockParam[], mark: CacheMark): void {
  const last = blocks.findLast(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  if (last) Object.assign(last, mark)
}

/** Anthropic's own block for it, for five minutes. */
const MARK: CacheControlEphemeral = { type: 'ephemeral' }

/**
 * Marks where prompts of one conversation part: behind the tools, the system prompt, and the last turn. A request that has marks of its own
 * keeps them alone, as there may be four.
 */
export function markPrompt({ tools = [], system = [], messages, ...own }: MessagesRequest): void {
  const turns = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const isMarked = [own, ...tools, ...system, ...turns].some(block => 'cache_control' in block)
  const last = messages.at(-1)
  if (isMarked || !last) return
  if (typeof last.content === 'string') last.content = [{ type: 'text', text: last.content }]
  for (const block of [tools.at(-1), system.at(-1)]) if (block) Object.assign(block, { cache_control: MARK })
  markBlock(last.content, { cache_control: MARK })
}

function readOwnMark(value: unknown, param: string): CacheControlEphemeral {
  const mark = readObject(value, param)
  const type = readChoice(mark.type, `${param}.type`, ['ephemeral'])
  const ttl = readGiven(mark, 'ttl')
  return ttl === undefined ? { type } : { type, ttl: readChoice(ttl, `${param}.ttl`, ['5m', '1h']) }
}

/** Reads and adds cache breakpoints of prompts, in Anthropic's form and in OpenAI's. */
import type { CacheControlEphemeral, ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readEnum, readObject, readOptional } from '../../../formats/json/read-fields.ts'
import { isThinkingBlock } from '../../../formats/messages/assemble-message.ts'
import type { MessagesRequest } from '../messages-request.ts'

export interface CacheBreakpoint {
  cache_control?: CacheControlEphemeral
}

/** Returns the breakpoint of a message, part or tool as fields for its block; empty when it has none. */
export function readCacheBreakpoint(marked: JsonObject, param: string): CacheBreakpoint {
  const cacheControl = readOptional(marked, 'cache_control')
  if (cacheControl !== undefined) return { cache_control: readCacheControl(cacheControl, `${param}.cache_control`) }
  const breakpoint = readOptional(marked, 'prompt_cache_breakpoint')
  if (breakpoint === undefined) return {}
  const { ttl } = readObject(breakpoint, `${param}.prompt_cache_breakpoint`)
  // OpenAI's shortest lifetime is half an hour, Anthropic's longer one an hour.
  return { cache_control: typeof ttl === 'string' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/** Adds the breakpoint of a message to its last block that can have one. */
export function addMessageBreakpoint(
  blocks: ContentBlockParam[],
  message: JsonObject,
  param: string,
): ContentBlockParam[] {
  markBlock(blocks, readCacheBreakpoint(message, param))
  return blocks
}

function markBlock(blocks: ContentBlockParam[], mark: CacheBreakpoint): void {
  const last = blocks.findLast(block => !isThinkingBlock(block))
  if (last) Object.assign(last, mark)
}

/** A breakpoint with Anthropic's default lifetime of five minutes. */
const BREAKPOINT: CacheControlEphemeral = { type: 'ephemeral' }

/**
 * Adds breakpoints where prompts of one conversation start to differ: after the tools, the system prompt, and the last turn. A request with
 * breakpoints stays unchanged, because Anthropic accepts four at most.
 */
export function addPromptBreakpoints({ tools = [], system = [], messages, ...fields }: MessagesRequest): void {
  const turns = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const hasBreakpoint = [fields, ...tools, ...system, ...turns].some(block => 'cache_control' in block)
  const last = messages.at(-1)
  if (hasBreakpoint || !last) return
  if (typeof last.content === 'string') last.content = [{ type: 'text', text: last.content }]
  for (const block of [tools.at(-1), system.at(-1)]) if (block) Object.assign(block, { cache_control: BREAKPOINT })
  markBlock(last.content, { cache_control: BREAKPOINT })
}

function readCacheControl(value: unknown, param: string): CacheControlEphemeral {
  const mark = readObject(value, param)
  const type = readEnum(mark.type, `${param}.type`, ['ephemeral'])
  const ttl = readOptional(mark, 'ttl')
  return ttl === undefined ? { type } : { type, ttl: readEnum(ttl, `${param}.ttl`, ['5m', '1h']) }
}

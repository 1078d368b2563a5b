/** Translates an assistant message of a conversation into Anthropic's blocks. */
import type {
  ContentBlockParam,
  RedactedThinkingBlockParam,
  ThinkingBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { asObjects, isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../../formats/json/lossless-json.ts'
import { readArray, readObject, readOptional, readString } from '../../../formats/json/read-fields.ts'
import { unsupportedFieldError } from '../field-rules.ts'
import { translateTextContent } from './translate-parts.ts'

/** A tool call with the client's id and name. */
export interface ClientToolCall {
  clientId: string
  name: string
  input: unknown
}

/** A thinking block, and its index among all blocks. */
interface PositionedThinkingBlock {
  at: number
  block: ThinkingBlockParam | RedactedThinkingBlockParam
}

export interface AssistantMessage {
  /** Content without calls and thinking blocks. */
  content: ContentBlockParam[]
  calls: ClientToolCall[]
  thinkingBlocks: PositionedThinkingBlock[]
}

export function readAssistantMessage(message: JsonObject, param: string): AssistantMessage {
  if (readOptional(message, 'audio') !== undefined) throw unsupportedFieldError('messages[].audio', `${param}.audio`)
  return {
    content: readContent(message, param),
    calls: readCalls(message, param),
    thinkingBlocks: readThinkingBlocks(message),
  }
}

/** Reads the content. When it is missing, the refusal is used in its place. */
function readContent(message: JsonObject, param: string): ContentBlockParam[] {
  const content = translateTextContent(message, param)
  const refusal = readOptional(message, 'refusal')
  return content.length > 0 || refusal === undefined ? content : translateTextContent({ content: refusal }, param)
}

function readCalls(message: JsonObject, param: string): ClientToolCall[] {
  const calls = readOptional(message, 'tool_calls')
  const legacy = readOptional(message, 'function_call')
  if (legacy !== undefined) return [readLegacyCall(legacy, `${param}.function_call`)]
  if (calls === undefined) return []
  return readArray(calls, `${param}.tool_calls`).map((item, index) => {
    const at = `${param}.tool_calls[${index}]`
    const call = readObject(item, at)
    if (call.type === 'custom') throw unsupportedFieldError('tools[].custom', at)
    return { clientId: readString(call.id, `${at}.id`), ...readFunction(call.function, `${at}.function`) }
  })
}

/** Reads a legacy call. It has no id, so its position is used as the id. */
function readLegacyCall(value: unknown, param: string): ClientToolCall {
  return { clientId: param, ...readFunction(value, param) }
}

function readFunction(value: unknown, param: string): Omit<ClientToolCall, 'clientId'> {
  const called = readObject(value, param)
  const text = readString(called.arguments ?? '', `${param}.arguments`)
  return { name: readString(called.name, `${param}.name`), input: parseArguments(text) }
}

/** Parses the arguments. Invalid JSON, such as text that was cut off, is returned inside an object, because Anthropic accepts only objects. */
function parseArguments(text: string): JsonObject {
  // A function without parameters may be called without arguments.
  const input = text.trim() === '' ? {} : tryParseLosslessJson(text)
  return isJsonObject(input) ? input : { arguments: text }
}

/** Reads Anthropic's thinking blocks. It ignores those of other vendors, which have no signature. */
function readThinkingBlocks(message: JsonObject): PositionedThinkingBlock[] {
  return asObjects(readOptional(message, 'thinking_blocks')).flatMap((item, position): PositionedThinkingBlock[] => {
    const { type, thinking, signature, data, index } = item
    const at = typeof index === 'number' ? index : position
    if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string') {
      return [{ at, block: { type, thinking, signature } }]
    }
    return type === 'redacted_thinking' && typeof data === 'string' ? [{ at, block: { type, data } }] : []
  })
}

/** Returns all blocks in order. `ids` are the ids of the calls that are sent to Anthropic. */
export function composeAssistantTurn(
  { content, calls, thinkingBlocks }: AssistantMessage,
  ids: readonly string[],
): ContentBlockParam[] {
  const uses = calls.map(({ name, input }, index): ToolUseBlockParam => {
    return { type: 'tool_use', id: ids[index] ?? '', name, input }
  })
  const blocks: ContentBlockParam[] = [...content, ...uses]
  // A turn needs other blocks besides thinking blocks.
  if (blocks.length === 0) return []
  for (const { at, block } of thinkingBlocks.toSorted((a, b) => a.at - b.at)) blocks.splice(at, 0, block)
  return blocks
}

/** Translates an assistant's message in a conversation into Anthropic's blocks. */
import type {
  ContentBlockParam,
  RedactedThinkingBlockParam,
  ThinkingBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { isJsonObject, type JsonObject, objectsOf } from '../../../formats/json/canonical.ts'
import { parseExactlyIfValid } from '../../../formats/json/exact-json.ts'
import { readGiven, readList, readObject, readText } from '../../../formats/json/read-fields.ts'
import { refusal } from './check-fields.ts'
import { translateText } from './translate-parts.ts'

/** A tool call as the client knows it. */
export interface Call {
  clientId: string
  name: string
  input: unknown
}

/** A thinking block, and its index among all blocks. */
interface Thought {
  at: number
  block: ThinkingBlockParam | RedactedThinkingBlockParam
}

export interface AssistantMessage {
  /** Content without calls and thinking blocks. */
  content: ContentBlockParam[]
  calls: Call[]
  thoughts: Thought[]
}

export function readAssistantMessage(message: JsonObject, param: string): AssistantMessage {
  if (readGiven(message, 'audio') !== undefined) throw refusal('messages[].audio', `${param}.audio`)
  return { content: readContent(message, param), calls: readCalls(message, param), thoughts: readThoughts(message) }
}

/** A refusal stands in for missing content. */
function readContent(message: JsonObject, param: string): ContentBlockParam[] {
  const content = translateText(message, param)
  const refused = readGiven(message, 'refusal')
  return content.length > 0 || refused === undefined ? content : translateText({ content: refused }, param)
}

function readCalls(message: JsonObject, param: string): Call[] {
  const calls = readGiven(message, 'tool_calls')
  const legacy = readGiven(message, 'function_call')
  if (legacy !== undefined) return [readLegacyCall(legacy, `${param}.function_call`)]
  if (calls === undefined) return []
  return readList(calls, `${param}.tool_calls`).map((item, index) => {
    const at = `${param}.tool_calls[${index}]`
    const call = readObject(item, at)
    if (call.type === 'custom') throw refusal('tools[].custom', at)
    return { clientId: readText(call.id, `${at}.id`), ...readFunction(call.function, `${at}.function`) }
  })
}

/** Legacy calls have no ids: their position is used. */
function readLegacyCall(value: unknown, param: string): Call {
  return { clientId: param, ...readFunction(value, param) }
}

function readFunction(value: unknown, param: string): Omit<Call, 'clientId'> {
  const called = readObject(value, param)
  const text = readText(called.arguments ?? '', `${param}.arguments`)
  return { name: readText(called.name, `${param}.name`), input: parseArguments(text) }
}

/** Invalid JSON, for example cut off, is passed as text inside an object: Anthropic accepts only objects. */
function parseArguments(text: string): JsonObject {
  // A function without parameters may be called without arguments.
  const input = text.trim() === '' ? {} : parseExactlyIfValid(text)
  return isJsonObject(input) ? input : { arguments: text }
}

/** Ignores blocks of other vendors: their thinking blocks have no signature. */
function readThoughts(message: JsonObject): Thought[] {
  return objectsOf(readGiven(message, 'thinking_blocks')).flatMap((item, position): Thought[] => {
    const { type, thinking, signature, data, index } = item
    const at = typeof index === 'number' ? index : position
    if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string') {
      return [{ at, block: { type, thinking, signature } }]
    }
    return type === 'redacted_thinking' && typeof data === 'string' ? [{ at, block: { type, data } }] : []
  })
}

/** All blocks in order; `ids` are the calls' ids as they are sent. */
export function composeAssistantTurn(
  { content, calls, thoughts }: AssistantMessage,
  ids: readonly string[],
): ContentBlockParam[] {
  const uses = calls.map(({ name, input }, index): ToolUseBlockParam => {
    return { type: 'tool_use', id: ids[index] ?? '', name, input }
  })
  const blocks: ContentBlockParam[] = [...content, ...uses]
  // Thinking blocks alone are no turn.
  if (blocks.length === 0) return []
  for (const { at, block } of thoughts.toSorted((a, b) => a.at - b.at)) blocks.splice(at, 0, block)
  return blocks
}

/** Translates a Messages request, including its tools, to a chat request. */

import { type ChatMessageBuilder, createChatMessageBuilder } from '../chat/chat-message-builder.ts'
import type { JsonObject } from '../json/canonical.ts'
import {
  pickPresent,
  readArray,
  readEnum,
  readNonEmptyString,
  readObject,
  readOptional,
  readPositiveInteger,
  readString,
} from '../json/read-fields.ts'
import { setSourcePath } from '../source-paths.ts'
import { createUntranslatableError, pickUnknownFields } from './message-fields.ts'
import { type BlockOptions, translateMessages } from './messages-to-chat.ts'

/** Properties of the model and its provider. */
export interface ChatTargetModel extends BlockOptions {
  /** The model's output limit in tokens; null when unknown. Clients request as many tokens of every model as Claude can write. */
  maxOutputTokens: number | null
  /** False for a model that is known not to reason, which would reject `reasoning_effort`. */
  canReason: boolean
}

/** Maximum length of `user`. OpenAI rejects longer values. */
const MAX_USER_CHARS = 64

/** Translates the request. `conversation` writes `messages`. Throws a 400 for a field that is invalid or has no counterpart in chat completions. */
export function translateMessagesRequest(
  body: JsonObject,
  target: ChatTargetModel,
  conversation: ChatMessageBuilder = createChatMessageBuilder(),
): JsonObject {
  const unknown = pickUnknownFields(body)
  const stop = readStopSequences(body)
  return {
    ...unknown,
    model: body.model,
    messages: translateMessages(body, target, conversation),
    max_completion_tokens: translateLimit(body, target),
    ...(stop.length === 0 ? {} : { stop }),
    ...pickPresent(body, ['temperature', 'top_p', 'top_k', ...(target.supportsCacheControl ? ['cache_control'] : [])]),
    ...translateTools(body, target),
    ...(target.canReason ? translateThinking(body) : {}),
    ...translateFormat(body),
    ...translateUser(body),
    ...translateTier(body),
    ...(body.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

export function readStopSequences(body: JsonObject): string[] {
  const sequences = readArray(readOptional(body, 'stop_sequences') ?? [], 'stop_sequences')
  return sequences.map(sequence => readString(sequence, 'stop_sequences'))
}

function translateLimit(body: JsonObject, { maxOutputTokens }: ChatTargetModel): number {
  const limit = readPositiveInteger(body.max_tokens, 'max_tokens')
  return maxOutputTokens === null ? limit : Math.min(limit, maxOutputTokens)
}

/** Returns the requested effort, or the one nearest to the budget. Returns no field if the model decides. */
function translateThinking(body: JsonObject): JsonObject {
  const thinking = readObject(readOptional(body, 'thinking') ?? {}, 'thinking')
  if (thinking.type === 'disabled') return {}
  const effort = readOptional(readObject(readOptional(body, 'output_config') ?? {}, 'output_config'), 'effort')
  if (effort !== undefined) {
    const level = readEnum(effort, 'output_config.effort', ['low', 'medium', 'high', 'xhigh', 'max'])
    // Levels above `high` differ between chat models.
    return { reasoning_effort: level === 'xhigh' || level === 'max' ? 'high' : level }
  }
  if (thinking.type !== 'enabled') return {}
  const budget = readPositiveInteger(thinking.budget_tokens, 'thinking.budget_tokens')
  return { reasoning_effort: effortOfBudget(budget) }
}

/** Highest budgets of thinking tokens that count as low and as medium effort. */
const LOW_BUDGET = 4_096
const MEDIUM_BUDGET = 12_288

export function effortOfBudget(tokens: number): 'low' | 'medium' | 'high' {
  return tokens <= LOW_BUDGET ? 'low' : tokens <= MEDIUM_BUDGET ? 'medium' : 'high'
}

function translateFormat(body: JsonObject): JsonObject {
  const config = readObject(readOptional(body, 'output_config') ?? {}, 'output_config')
  const given = readOptional(config, 'format') ?? readOptional(body, 'output_format')
  if (given === undefined) return {}
  const format = readObject(given, 'output_config.format')
  const type = readEnum(format.type, 'output_config.format.type', ['json_schema'])
  const schema = readObject(format.schema, 'output_config.format.schema')
  return { response_format: { type, json_schema: { name: 'answer', schema, strict: true } } }
}

function translateUser(body: JsonObject): JsonObject {
  const id = readOptional(readObject(readOptional(body, 'metadata') ?? {}, 'metadata'), 'user_id')
  if (id === undefined) return {}
  const user = readString(id, 'metadata.user_id')
  return { user: user.length > MAX_USER_CHARS ? Bun.SHA256.hash(user, 'hex') : user }
}

function translateTier(body: JsonObject): JsonObject {
  const given = readOptional(body, 'service_tier')
  if (given === undefined) return {}
  const tier = readEnum(given, 'service_tier', ['auto', 'standard_only'])
  return { service_tier: tier === 'auto' ? 'auto' : 'default' }
}

const TOOL_CHOICES = { auto: 'auto', any: 'required', none: 'none' } as const

export function translateTools(body: JsonObject, options: BlockOptions): JsonObject {
  const tools = readArray(readOptional(body, 'tools') ?? [], 'tools').flatMap((tool, index) => {
    const param = `tools[${index}]`
    // An omitted tool is undefined.
    return tool === undefined ? [] : [setSourcePath(translateTool(tool, param, options), param)]
  })
  // Chat completions reject a tool choice without tools.
  return tools.length === 0 ? {} : { tools, ...translateChoice(body) }
}

function translateTool(value: unknown, param: string, { supportsCacheControl }: BlockOptions): JsonObject {
  const tool = readObject(value, param)
  if ((readOptional(tool, 'type') ?? 'custom') !== 'custom') {
    throw createUntranslatableError(
      `${param}.type`,
      'other models support only tools that the request describes. If tool_choice is auto, hosted tools are omitted, unless the project’s setting unsupported_tools forbids it; clients can also turn such tools off (Claude Code: --disallowedTools WebSearch).',
    )
  }
  const description = readOptional(tool, 'description')
  const cacheControl = supportsCacheControl ? readOptional(tool, 'cache_control') : undefined
  return {
    type: 'function',
    function: {
      name: readNonEmptyString(tool.name, `${param}.name`),
      ...(description === undefined ? {} : { description: readString(description, `${param}.description`) }),
      parameters: readObject(tool.input_schema, `${param}.input_schema`),
      ...(tool.strict === true ? { strict: true } : {}),
    },
    ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
  }
}

function translateChoice(body: JsonObject): JsonObject {
  const given = readOptional(body, 'tool_choice')
  if (given === undefined) return {}
  const choice = readObject(given, 'tool_choice')
  const type = readEnum(choice.type, 'tool_choice.type', ['auto', 'any', 'tool', 'none'])
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  if (type !== 'tool') return { tool_choice: TOOL_CHOICES[type], ...parallel }
  const name = readString(choice.name, 'tool_choice.name')
  return { tool_choice: { type: 'function', function: { name } }, ...parallel }
}

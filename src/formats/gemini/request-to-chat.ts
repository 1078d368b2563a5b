/**
 * Translates a Gemini request to a chat request, which the pipeline reads like a client's own. `completeChatRequest` adapts it to the model once
 * the provider is known.
 */

import { invalidRequestError } from '../../errors/errors.ts'
import { mergeCallExtras } from '../chat/chat-message-builder.ts'
import { mergeDelta } from '../chat/merge-delta.ts'
import { unpackExtras } from '../chat/provider-extras.ts'
import { asObjects, asString, isJsonObject, isPresent, type JsonObject } from '../json/canonical.ts'
import {
  pickPresent,
  readArray,
  readEnum,
  readNonEmptyString,
  readNumber,
  readObject,
  readPositiveInteger,
  readString,
} from '../json/read-fields.ts'
import { type ChatTargetModel, effortOfBudget } from '../messages/message-request-to-chat.ts'
import { translateContents } from './contents-to-chat.ts'
import * as fields from './gemini-fields.ts'
import { translateSchema } from './schema-to-json.ts'

/** What the path says about the request. */
export interface GeminiPath {
  model: string
  isStreamed: boolean
}

/** Translates the request. Throws a 400 that names a field that is invalid, unknown or has no counterpart in chat completions. */
export function translateGeminiRequest(given: JsonObject, { model, isStreamed }: GeminiPath): JsonObject {
  const body = fields.readFields(given, '', fields.GENERATE_CONTENT_FIELDS)
  if (body.cachedContent !== undefined)
    throw fields.createGoogleOnlyError('cachedContent', fields.GENERATE_CONTENT_RULES.cachedContent.reason)
  const messages = translateContents(body)
  return {
    model,
    ...translateConfig(body.generationConfig, messages),
    ...translateTools(body),
    messages,
    ...(isStreamed ? { stream: true } : {}),
  }
}

function translateConfig(given: unknown, messages: JsonObject[]): JsonObject {
  if (given === undefined) return {}
  const at = (field: string) => `generationConfig.${field}`
  const config = fields.readFields(given, 'generationConfig', fields.GENERATION_CONFIG_FIELDS)
  const count = config.candidateCount
  if (count !== undefined && count !== 1)
    throw invalidRequestError(
      'generationConfig.candidateCount must be 1, because responses have one candidate.',
      at('candidateCount'),
    )
  const stop = readArray(config.stopSequences ?? [], at('stopSequences'))
  const read = (field: string, name: string) => (config[field] === undefined ? {} : { [name]: config[field] })
  return {
    ...read('temperature', 'temperature'),
    ...read('topP', 'top_p'),
    ...read('topK', 'top_k'),
    ...read('seed', 'seed'),
    ...read('presencePenalty', 'presence_penalty'),
    ...read('frequencyPenalty', 'frequency_penalty'),
    ...(config.maxOutputTokens === undefined
      ? {}
      : { max_completion_tokens: readPositiveInteger(config.maxOutputTokens, at('maxOutputTokens')) }),
    ...(stop.length === 0 ? {} : { stop: stop.map(each => readString(each, at('stopSequences'))) }),
    ...(config.responseLogprobs === true ? { logprobs: true, ...read('logprobs', 'top_logprobs') } : {}),
    ...translateModalities(config.responseModalities),
    ...translateThinking(config.thinkingConfig),
    ...translateFormat(config, messages),
  }
}

function translateModalities(given: unknown): JsonObject {
  const at = 'generationConfig.responseModalities'
  const modalities = readArray(given ?? [], at).map(each => readString(each, at).toLowerCase())
  const others = modalities.filter(each => each !== 'text' && each !== 'modality_unspecified')
  return others.length === 0 ? {} : { modalities: [...new Set(modalities)] }
}

function translateThinking(given: unknown): JsonObject {
  if (given === undefined) return {}
  const at = 'generationConfig.thinkingConfig'
  const config = fields.readFields(given, at, fields.THINKING_CONFIG_FIELDS)
  const shown = config.includeThoughts === true ? { include_reasoning: true } : {}
  if (config.thinkingLevel !== undefined) {
    const level = readString(config.thinkingLevel, `${at}.thinkingLevel`).toLowerCase()
    if (level === 'thinking_level_unspecified') return shown
    return { ...shown, reasoning_effort: readEnum(level, `${at}.thinkingLevel`, ['minimal', 'low', 'medium', 'high']) }
  }
  // 0 turns thinking off and -1 lets the model decide. Chat models have no common word for the first.
  const budget =
    config.thinkingBudget === undefined ? 0 : readNumber(config.thinkingBudget, `${at}.thinkingBudget`, -1, Infinity)
  if (budget <= 0) return shown
  return { ...shown, reasoning_effort: effortOfBudget(budget) }
}

const JSON_TYPE = 'application/json'

/** Adds an instruction to the messages if the request has none: OpenAI requires one for JSON without a schema, Google does not. */
function translateFormat(config: JsonObject, messages: JsonObject[]): JsonObject {
  const at = 'generationConfig.responseMimeType'
  const type =
    config.responseMimeType === undefined ? 'text/plain' : readString(config.responseMimeType, at).toLowerCase()
  const schema =
    config.responseJsonSchema === undefined
      ? config.responseSchema === undefined
        ? null
        : translateSchema(config.responseSchema, 'generationConfig.responseSchema')
      : readObject(config.responseJsonSchema, 'generationConfig.responseJsonSchema')
  if (type === 'text/plain') return {}
  if (type !== JSON_TYPE) throw fields.createGoogleOnlyError(at, `use ${JSON_TYPE} or text/plain.`)
  if (schema) return { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } }
  if (!/json/i.test(JSON.stringify(messages)))
    messages.unshift({ role: 'system', content: 'Respond with a JSON object.' })
  return { response_format: { type: 'json_object' } }
}

function translateTools(body: JsonObject): JsonObject {
  const tools = readArray(body.tools ?? [], 'tools').flatMap((item, index) =>
    readTool(readObject(item, `tools[${index}]`), `tools[${index}]`),
  )
  if (tools.length === 0) return {}
  if (body.toolConfig === undefined) return { tools }
  const config = fields.readFields(body.toolConfig, 'toolConfig', fields.TOOL_CONFIG_FIELDS).functionCallingConfig
  return config === undefined ? { tools } : translateChoice(config, tools)
}

/** Returns the functions of a tool, and each tool that Google runs as one of that type, in snake case. */
function readTool(tool: JsonObject, param: string): JsonObject[] {
  return Object.entries(tool).flatMap(([given, value]) => {
    if (!isPresent(value)) return []
    const name = fields.toCamelCase(given)
    if (name !== 'functionDeclarations')
      return [{ type: given.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`) }]
    const at = `${param}.${given}`
    return readArray(value, at).map((item, index) => readFunction(item, `${at}[${index}]`))
  })
}

function readFunction(value: unknown, param: string): JsonObject {
  const { name, description, parameters, parametersJsonSchema } = fields.readFields(
    value,
    param,
    fields.FUNCTION_FIELDS,
  )
  const schema =
    parametersJsonSchema === undefined
      ? parameters === undefined
        ? { type: 'object', properties: {} }
        : translateSchema(parameters, `${param}.parameters`)
      : readObject(parametersJsonSchema, `${param}.parametersJsonSchema`)
  return {
    type: 'function',
    function: {
      name: readNonEmptyString(name, `${param}.name`),
      ...(description === undefined ? {} : { description: readString(description, `${param}.description`) }),
      parameters: schema,
    },
  }
}

function translateChoice(given: unknown, tools: JsonObject[]): JsonObject {
  const at = 'toolConfig.functionCallingConfig'
  const config = fields.readFields(given, at, fields.CALLING_CONFIG_FIELDS)
  const mode = readEnum(asString(config.mode ?? 'AUTO').toUpperCase(), `${at}.mode`, [
    ...(['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'] as const),
  ])
  if (mode === 'NONE') return { tools, tool_choice: 'none' }
  const allowed = readArray(config.allowedFunctionNames ?? [], `${at}.allowedFunctionNames`).map(each =>
    readString(each, `${at}.allowedFunctionNames`),
  )
  const kept = allowed.length === 0 ? tools : tools.filter(tool => allowed.includes(functionNameOf(tool)))
  if (kept.length === 0)
    throw invalidRequestError(`${at}.allowedFunctionNames must name functions of tools.`, `${at}.allowedFunctionNames`)
  if (mode !== 'ANY') return { tools: kept }
  const [only] = kept
  const name = only && kept.length === 1 && allowed.length > 0 ? functionNameOf(only) : null
  return { tools: kept, tool_choice: name === null ? 'required' : { type: 'function', function: { name } } }
}

function functionNameOf({ function: called }: JsonObject): string {
  return isJsonObject(called) ? asString(called.name) : ''
}

/**
 * Returns the chat request for the model: with the provider extras that its keys verify, within its output limit, and without fields that only
 * the proxy reads. `body` is a translated request without hosted tools.
 */
export function completeChatRequest(
  { include_reasoning: _shown, ...body }: JsonObject,
  { maxOutputTokens, canReason, extrasKeys }: ChatTargetModel,
): JsonObject {
  const { max_completion_tokens: limit, reasoning_effort: effort, tools, tool_choice: choice, ...rest } = body
  const kept = asObjects(tools)
  const hosted = kept.find(({ type }) => type !== 'function')
  if (hosted)
    throw fields.createGoogleOnlyError(
      'tools',
      'other models support only functions. If the mode is AUTO, hosted tools are omitted, unless the project’s setting unsupported_tools forbids it.',
    )
  return {
    ...rest,
    ...(typeof limit === 'number'
      ? { max_completion_tokens: maxOutputTokens === null ? limit : Math.min(limit, maxOutputTokens) }
      : {}),
    ...(canReason && effort !== undefined ? { reasoning_effort: effort } : {}),
    // Chat completions reject a tool choice without tools.
    ...(kept.length === 0 ? {} : { tools: kept, ...pickPresent({ tool_choice: choice }, ['tool_choice']) }),
    messages: asObjects(body.messages).map(message => addExtras(message, extrasKeys)),
    ...(body.stream === true ? { stream_options: { include_usage: true } } : {}),
  }
}

function addExtras(
  { thinking_blocks: blocks, ...message }: JsonObject,
  keys: ChatTargetModel['extrasKeys'],
): JsonObject {
  if (message.role !== 'assistant' || !Array.isArray(blocks)) return message
  const calls: JsonObject[] = asObjects(message.tool_calls).map(call => ({ ...call }))
  const completed = calls.length > 0 ? { ...message, tool_calls: calls } : message
  for (const { data } of asObjects(blocks)) {
    const extras = unpackExtras(data, keys)
    if (!extras) continue
    mergeDelta(completed, extras.fields)
    mergeCallExtras(calls, extras)
  }
  return completed
}

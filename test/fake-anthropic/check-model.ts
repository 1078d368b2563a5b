/** Anthropic's rules for a request's settings, by model and API version. */
import type { FakeModel } from './models.ts'
import type { JsonObject } from './scenario.ts'

const SAMPLING_VERSION = '2023-06-01'
const UNENFORCED = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'patternProperties', 'oneOf', 'not', 'if'],
]

/** Returns the error in Anthropic's words; null for valid settings. */
export function findSettingError(request: JsonObject, model: FakeModel, version: string): string | null {
  const checks = [findSamplingError, findThinkingError, findToolChoiceError, findSchemaError, findLimitError]
  for (const check of checks) {
    const error = check(request, model, version)
    if (error !== null) return error
  }
  return null
}

/** Returns whether the model reasons before it responds to this request. */
export function isThinking(request: JsonObject, model: FakeModel): boolean {
  const type = typeOf(request.thinking)
  return type === undefined ? model.thinksByDefault : type === 'adaptive' || type === 'enabled'
}

function findSamplingError(request: JsonObject, model: FakeModel, version: string): string | null {
  const given = ['temperature', 'top_p', 'top_k'].filter(field => field in request)
  const [first] = given
  if (first === undefined) return null
  if (version !== SAMPLING_VERSION) return `${first}: Extra inputs are not permitted`
  if (!model.isSampled) return `\`${first}\` is deprecated for this model.`
  if (given.includes('temperature') && given.includes('top_p')) {
    return '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
  }
  return isThinking(request, model) ? `\`${first}\` may only be set when thinking is off` : null
}

function findThinkingError(request: JsonObject, model: FakeModel): string | null {
  const type = typeOf(request.thinking)
  const { effort } = (request.output_config ?? {}) as JsonObject
  if (type !== undefined && !model.thinking.includes(type)) {
    return `"thinking.type.${type}" is not supported for this model.`
  }
  if (effort !== undefined && !model.efforts.includes(String(effort))) {
    return model.efforts.length === 0
      ? 'This model does not support the effort parameter.'
      : `output_config.effort: ${effort} is not supported by this model`
  }
  if (type !== 'enabled') return null
  const { budget_tokens: budget } = request.thinking as JsonObject
  if (Number(budget) >= Number(request.max_tokens)) return '`max_tokens` must be greater than `thinking.budget_tokens`.'
  return findMissingThought(request)
}

/** With a thinking budget, the assistant turn whose calls get their results must begin with a thinking block. */
function findMissingThought(request: JsonObject): string | null {
  const turns = request.messages as { content: JsonObject[] }[]
  if (turns.at(-1)?.content[0]?.type !== 'tool_result') return null
  const type = String(turns.at(-2)?.content[0]?.type)
  return type.endsWith('thinking')
    ? null
    : `messages.${turns.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`.`
}

function findToolChoiceError(request: JsonObject, model: FakeModel): string | null {
  const type = typeOf(request.tool_choice)
  if (type === undefined) return null
  const tools = (request.tools ?? []) as JsonObject[]
  if (tools.length === 0) return 'tool_choice may only be specified while providing tools'
  const { name } = request.tool_choice as JsonObject
  if (type === 'tool' && !tools.some(tool => tool.name === name)) return `Tool '${name}' not found in provided tools`
  if (type !== 'any' && type !== 'tool') return null
  if (!model.isForced) return `tool_choice "${type}" is not supported for this model.`
  return typeOf(request.thinking) === 'enabled' ? 'Thinking may not be enabled when tool_choice forces tool use.' : null
}

function findSchemaError(request: JsonObject): string | null {
  const { format } = (request.output_config ?? {}) as { format?: JsonObject }
  const strict = ((request.tools ?? []) as JsonObject[]).filter(tool => tool.strict === true)
  for (const schema of [format?.schema, ...strict.map(tool => tool.input_schema)]) {
    const error = findKeywordError(schema)
    if (error !== null) return error
  }
  return null
}

function findKeywordError(schema: unknown): string | null {
  if (typeof schema !== 'object' || schema === null) return null
  const { properties = {}, $defs = {}, items, anyOf = [], type, additionalProperties } = schema as JsonObject
  const keyword = UNENFORCED.find(known => known in schema)
  if (keyword !== undefined) return `For '${String(type)}' type, property '${keyword}' is not supported`
  if (type === 'object' && additionalProperties !== false) {
    return "For 'object' type, 'additionalProperties' must be explicitly set to false"
  }
  const inner = [...Object.values(properties as JsonObject), ...Object.values($defs as JsonObject), items]
  for (const part of [...inner, ...(anyOf as unknown[])]) {
    const error = findKeywordError(part)
    if (error !== null) return error
  }
  return null
}

function findLimitError(request: JsonObject, model: FakeModel): string | null {
  const turns = request.messages as { role: string }[]
  if (turns.at(-1)?.role === 'assistant' && !model.isPrefilled) {
    return 'This model does not support assistant message prefill. The conversation must end with a user message.'
  }
  const marks = JSON.stringify(request).split('"cache_control"').length - 1
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`
  return Number(request.max_tokens) > model.maxTokens
    ? `max_tokens: ${request.max_tokens} > ${model.maxTokens}, which is the maximum allowed number of output tokens`
    : null
}

function typeOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : undefined
}

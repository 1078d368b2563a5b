/** Tracks the path in the client's request of each piece of a translated chat request, so that errors name the client's field. */
import type { TranslatableEndpoint } from './endpoint.ts'
import { asString, isJsonObject, type JsonObject, readField } from './json/canonical.ts'

const SOURCE_PATHS = new WeakMap<object, string>()

/** Sets the path in the client's request from which a message, a part, a call or a tool was translated. Returns the piece. */
export function setSourcePath<Piece extends object>(piece: Piece, path: string): Piece {
  SOURCE_PATHS.set(piece, path)
  return piece
}

export function sourcePathOf(piece: object): string | undefined {
  return SOURCE_PATHS.get(piece)
}

/** Translated fields by their name in the client's API: those of the request, and those of a part, call or tool that exist there. */
interface FieldNames {
  request: Readonly<Record<string, string>>
  piece: Readonly<Record<string, string>>
}

export const CLIENT_FIELD_NAMES: Record<TranslatableEndpoint, FieldNames> = {
  responses: {
    request: {
      messages: 'input',
      max_completion_tokens: 'max_output_tokens',
      response_format: 'text.format',
      verbosity: 'text.verbosity',
      reasoning_effort: 'reasoning.effort',
      logprobs: 'include',
      stream_options: 'stream',
    },
    piece: {
      ...{ type: 'type', text: 'text', image_url: 'image_url', input_audio: 'input_audio' },
      ...{ id: 'call_id', name: 'name', arguments: 'arguments' },
      ...{ description: 'description', parameters: 'parameters', strict: 'strict' },
    },
  },
  messages: {
    request: {
      max_completion_tokens: 'max_tokens',
      // Fields of Responses.
      ...{ input: 'messages', max_output_tokens: 'max_tokens', safety_identifier: 'metadata.user_id' },
      ...{ reasoning: 'thinking', include: 'thinking', text: 'output_config' },
      ...{ 'reasoning.effort': 'thinking', 'reasoning.summary': 'thinking' },
      stop: 'stop_sequences',
      response_format: 'output_config.format',
      reasoning_effort: 'thinking',
      user: 'metadata.user_id',
      parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
      stream_options: 'stream',
    },
    piece: {
      ...{ type: 'type', text: 'text', image_url: 'source', file: 'source', cache_control: 'cache_control' },
      ...{ id: 'id', name: 'name', arguments: 'input' },
      ...{ description: 'description', parameters: 'input_schema', strict: 'strict' },
    },
  },
  generate_content: {
    request: {
      messages: 'contents',
      max_completion_tokens: 'generationConfig.maxOutputTokens',
      temperature: 'generationConfig.temperature',
      top_p: 'generationConfig.topP',
      top_k: 'generationConfig.topK',
      seed: 'generationConfig.seed',
      stop: 'generationConfig.stopSequences',
      presence_penalty: 'generationConfig.presencePenalty',
      frequency_penalty: 'generationConfig.frequencyPenalty',
      logprobs: 'generationConfig.responseLogprobs',
      top_logprobs: 'generationConfig.logprobs',
      modalities: 'generationConfig.responseModalities',
      response_format: 'generationConfig.responseMimeType',
      reasoning_effort: 'generationConfig.thinkingConfig',
      tool_choice: 'toolConfig.functionCallingConfig',
      stream_options: 'streamGenerateContent',
    },
    piece: {},
  },
}

/** Steps of chat paths that the other APIs do not have. */
const NESTING = new Set(['function', 'json_schema', 'allowed_tools'])

/** Returns the client's name of `param`, a field of the translated request. A field that the client sent under the same name keeps it. */
export function resolveClientField(
  endpoint: keyof typeof CLIENT_FIELD_NAMES,
  clientRequest: JsonObject,
  chatRequest: JsonObject,
  param: string,
): string {
  const { request, piece } = CLIENT_FIELD_NAMES[endpoint]
  if (param.includes('.') && Object.hasOwn(request, param)) return asString(request[param])
  const steps = stepsOf(param)
  let value: unknown = chatRequest
  let source: { path: string; rest: string[] } | null = null
  for (const [index, step] of steps.entries()) {
    value = follow(value, step)
    const path = typeof value === 'object' && value !== null ? sourcePathOf(value) : undefined
    if (path !== undefined) source = { path, rest: steps.slice(index + 1) }
  }
  if (source) {
    const [field = '', ...within] = source.rest.filter(step => !NESTING.has(step))
    // The client's piece lacks fields that the translation adds.
    const isInClientRequest =
      Object.hasOwn(piece, field) &&
      follow(stepsOf(source.path).reduce(follow, clientRequest as unknown), asString(piece[field])) !== undefined
    if (!isInClientRequest) return source.path
    return writeSteps(`${source.path}.${piece[field]}`, field === 'parameters' ? within : [])
  }
  const [field = '', ...rest] = steps
  const isRenamed = Object.hasOwn(request, field) && !Object.hasOwn(clientRequest, field)
  if (!isRenamed && field !== 'tool_choice') return param
  const within = rest.filter(step => !NESTING.has(step))
  return writeSteps(isRenamed ? asString(request[field]) : field, isRenamed && field === 'messages' ? [] : within)
}

function stepsOf(path: string): string[] {
  return path.match(/[^.[\]]+/g) ?? []
}

function follow(value: unknown, step: string): unknown {
  return isJsonObject(value) || Array.isArray(value) ? readField(value as JsonObject, step) : undefined
}

function writeSteps(start: string, steps: readonly string[]): string {
  return start + steps.map(step => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('')
}

/** Replaces chat field names in the text of a proxy error: the field that it is about, and fields that only chat completions have. */
export function replaceWithClientFields(
  endpoint: keyof typeof CLIENT_FIELD_NAMES,
  clientRequest: JsonObject,
  text: string,
  renamed: { from: string; to: string } | null,
): string {
  const renamedText = renamed === null ? text : replaceName(text, renamed)
  return renamedText.replace(/(?<![\w.])[a-z]+(?:_[a-z]+)+(?![\w.[])/g, name => {
    const { request } = CLIENT_FIELD_NAMES[endpoint]
    return Object.hasOwn(request, name) && !Object.hasOwn(clientRequest, name) ? asString(request[name]) : name
  })
}

/** Replaces a field name. A name of one plain word counts only at the beginning of the text or in quotes. */
function replaceName(text: string, { from, to }: { from: string; to: string }): string {
  if (/[._[]/.test(from)) return text.replaceAll(from, to)
  return text.replace(/(?<=^|['"`])[a-z]+(?=[ :'"`])/g, word => (word === from ? to : word))
}

/** Where each piece of a chat request stood in the client's own request, so that an error about the former names the client's field. */
import { asString, isJsonObject, type JsonObject, readField } from './json/canonical.ts'

const PLACES = new WeakMap<object, string>()

/** Notes where in the client's request a message, a part of one, a call or a tool comes from. */
export function setSourcePath<Piece extends object>(piece: Piece, place: string): Piece {
  PLACES.set(piece, place)
  return piece
}

export function sourcePathOf(piece: object): string | undefined {
  return PLACES.get(piece)
}

/** Chat's fields that the other API has by another name, and those of a part, a call or a tool that it has at all. */
interface Names {
  request: Readonly<Record<string, string>>
  piece: Readonly<Record<string, string>>
}

export const CLIENT_FIELD_NAMES: Record<'responses' | 'messages', Names> = {
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
}

/** Steps of chat's that the other APIs do without. */
const NESTING = new Set(['function', 'json_schema', 'allowed_tools'])

/** The client's own name of `param`, a field of the chat request that its request became. What it sent by that very name keeps it. */
export function resolveClientField(
  endpoint: keyof typeof CLIENT_FIELD_NAMES,
  own: JsonObject,
  chatRequest: JsonObject,
  param: string,
): string {
  const { request, piece } = CLIENT_FIELD_NAMES[endpoint]
  const steps = stepsOf(param)
  let value: unknown = chatRequest
  let found: { place: string; rest: string[] } | null = null
  for (const [index, step] of steps.entries()) {
    value = follow(value, step)
    const place = typeof value === 'object' && value !== null ? sourcePathOf(value) : undefined
    if (place !== undefined) found = { place, rest: steps.slice(index + 1) }
  }
  if (found) {
    const [field = '', ...within] = found.rest.filter(step => !NESTING.has(step))
    // What the translation adds, the client's own piece does not have.
    const isOwn =
      Object.hasOwn(piece, field) &&
      follow(stepsOf(found.place).reduce(follow, own as unknown), asString(piece[field])) !== undefined
    if (!isOwn) return found.place
    return writeSteps(`${found.place}.${piece[field]}`, field === 'parameters' ? within : [])
  }
  const [field = '', ...rest] = steps
  const isRenamed = Object.hasOwn(request, field) && !Object.hasOwn(own, field)
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

/** The text of an error of the proxy's own with the client's names: of the field that it is about, and of those that only chat completions have. */
export function replaceWithClientFields(
  endpoint: keyof typeof CLIENT_FIELD_NAMES,
  own: JsonObject,
  text: string,
  renamed: { from: string; to: string } | null,
): string {
  const told = renamed === null ? text : replaceName(text, renamed)
  return told.replace(/(?<![\w.])[a-z]+(?:_[a-z]+)+(?![\w.[])/g, name => {
    const { request } = CLIENT_FIELD_NAMES[endpoint]
    return Object.hasOwn(request, name) && !Object.hasOwn(own, name) ? asString(request[name]) : name
  })
}

/** A name of one plain word is one only where the text begins with it, or quotes it. */
function replaceName(text: string, { from, to }: { from: string; to: string }): string {
  if (/[._[]/.test(from)) return text.replaceAll(from, to)
  return text.replace(/(?<=^|['"`])[a-z]+(?=[ :'"`])/g, word => (word === from ? to : word))
}

/** Parses and checks a request's body as far as the proxy itself relies on it; the rest is the provider's to judge. */
import { invalidRequest } from '../errors.ts'
import type { Endpoint } from '../providers/upstream.ts'

export interface ParsedBody {
  text: string
  body: Record<string, unknown>
  model: string
  stream: boolean
  /** Whether the client asked for usage at the end of its stream. */
  includeUsage: boolean
}

const MAX_MODEL_LENGTH = 256
/** Control characters have no place in a name that is logged and stored. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/

/** Throws a 400 that names the field. Messages never quote the body. */
export function parseBody(endpoint: Endpoint, text: string): ParsedBody {
  const body = parseObject(text)
  const { model, stream } = body
  if (model === undefined || model === null) throw invalidRequest('you must provide a model parameter.', 'model')
  if (typeof model !== 'string') throw invalidRequest('model must be a string.', 'model')
  if (model === '' || model.length > MAX_MODEL_LENGTH || CONTROL_CHARACTERS.test(model) || !model.isWellFormed()) {
    throw invalidRequest(`model must be 1 to ${MAX_MODEL_LENGTH} printable characters.`, 'model')
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw invalidRequest('stream must be true or false.', 'stream')
  }
  checkInput[endpoint](body)
  return { text, body, model, stream: stream === true && endpoint !== 'embeddings', includeUsage: asksForUsage(body) }
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidRequest('We could not parse the JSON body of your request: the body must be one valid JSON object.')
  }
  if (isObject(value)) return value
  throw invalidRequest('The body of your request must be a JSON object.')
}

const checkInput: Record<Endpoint, (body: Record<string, unknown>) => void> = {
  chat({ messages }) {
    if (!Array.isArray(messages)) throw invalidRequest('messages must be an array of messages.', 'messages')
    if (messages.length === 0) throw invalidRequest('messages must hold at least one message.', 'messages')
    messages.forEach((message: unknown, i) => {
      if (!isObject(message)) throw invalidRequest(`messages[${i}] must be an object.`, `messages[${i}]`)
      if (typeof message.role !== 'string') {
        throw invalidRequest(`messages[${i}].role must be a string.`, `messages[${i}].role`)
      }
      const { content } = message
      if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
        throw invalidRequest(`messages[${i}].content must be a string or an array of parts.`, `messages[${i}].content`)
      }
    })
  },
  completions({ prompt }) {
    if (typeof prompt !== 'string' && !Array.isArray(prompt)) {
      throw invalidRequest('prompt must be a string or an array.', 'prompt')
    }
  },
  embeddings({ input }) {
    if (typeof input !== 'string' && !Array.isArray(input)) {
      throw invalidRequest('input must be a string or an array.', 'input')
    }
    if (input.length === 0) throw invalidRequest('input must not be empty.', 'input')
  },
}

function asksForUsage(body: Record<string, unknown>): boolean {
  return isObject(body.stream_options) && body.stream_options.include_usage === true
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

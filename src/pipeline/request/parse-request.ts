/** Parses requests, and validates the fields that the proxy relies on. The provider validates the rest. */
import { type CacheControl, readCacheControl } from '../../cache/cache-control.ts'
import { listIrrelevantFields } from '../../cache/cache-query.ts'
import { invalidRequestError } from '../../errors/errors.ts'
import { LazyBodyFacts } from '../../formats/body-facts.ts'
import { readAlternativeModels } from '../../formats/cost-factors.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import { isTranslatableEndpoint } from '../../formats/endpoint-formats.ts'
import {
  canonicalizeBody,
  decodeUtf8,
  hasInexactNumber,
  isJsonObject,
  type JsonObject,
  parseRequestBody,
} from '../../formats/json/canonical.ts'
import { isLargeBody, type LargeBody, type LargeBodyReader } from '../../formats/large-bodies/read-large-body.ts'
import { planCaching } from '../../formats/plan-caching.ts'
import { readEchoedFields } from '../../formats/responses/echoed-fields.ts'
import { hasPreviousReferences } from '../../formats/responses/item-references.ts'
import { setFields } from '../../providers/long-body.ts'
import { checkResponseSize, readEmbeddingsInput } from './embeddings-query.ts'
import { type CompletionQuery, type Delivery, MAX_MODEL_LENGTH, type ParsedBody } from './query.ts'
import type { ProxyRequest } from './request.ts'

/** Model names are logged and stored, so they must not contain control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/

type RequestInput = Pick<CompletionQuery, 'endpoint' | 'headers'>

/** Throws a 400 that names the field or header. Messages never quote the body. */
export function parseRequest({ endpoint, headers }: RequestInput, text: string): CompletionQuery {
  return applyHeaders(parseBody(endpoint, text), headers)
}

export function parseBody(endpoint: Endpoint, text: string): ParsedBody {
  const body = parseRequestBody(text)
  const fields = readFields(endpoint, body)
  const canonicalBody = fields.embeddings ? '' : canonicalizeBody(body, listIrrelevantFields(endpoint))
  return {
    ...fields,
    text,
    body,
    canonicalBody,
    facts: new LazyBodyFacts(body),
    hasInexactNumber: hasInexactNumber(text),
    isLarge: false,
  }
}

/** Like `parseRequest`, for a body that a worker has parsed. */
export function parseLargeRequest({ endpoint, headers }: RequestInput, largeBody: LargeBody): CompletionQuery {
  const fields = readFields(endpoint, largeBody.body)
  return {
    ...fields,
    ...largeBody,
    isLarge: true,
    get text() {
      return new TextDecoder().decode(largeBody.bytes)
    },
    headers,
    control: readControl(fields, headers),
    delivery: readDelivery(headers),
  }
}

/** Parses a body of any size; a worker parses a large one. `owner` is the id of the project. */
export async function parseRequestBytes(
  input: RequestInput & Pick<ProxyRequest, 'body'>,
  bytes: Uint8Array,
  largeBodies: LargeBodyReader,
  owner: number,
): Promise<CompletionQuery> {
  if (!isLargeBody(bytes)) return parseRequest(input, decodeUtf8(bytes))
  const { endpoint } = input
  const options = { irrelevant: listIrrelevantFields(endpoint), owner, hold: input.body.reserveMemory }
  return parseLargeRequest(input, await largeBodies.read(bytes, options))
}

export function applyHeaders(parsed: ParsedBody, headers: Headers): CompletionQuery {
  return { ...parsed, headers, control: readControl(parsed, headers), delivery: readDelivery(headers) }
}

function readControl({ isCacheable }: Pick<ParsedBody, 'isCacheable'>, headers: Headers): CacheControl {
  const control = readCacheControl(headers)
  return isCacheable ? control : { ...control, lookup: false, store: false }
}

/** Reads every field that the proxy relies on. */
function readFields(endpoint: Endpoint, body: JsonObject) {
  const { stream } = body
  const model = readModel(body)
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw invalidRequestError('stream must be true or false.', 'stream')
  }
  validateInput[endpoint](body)
  const embeddings = endpoint === 'embeddings' ? readEmbeddingsInput(body) : null
  if (endpoint === 'embeddings') checkResponseSize(body)
  const { isCacheable, isBoundToKey } = planCaching(endpoint, body)
  return {
    kind: 'completion' as const,
    endpoint,
    model,
    stream: stream === true && endpoint !== 'embeddings',
    includeUsage: alwaysReportsUsage(endpoint) || requestsUsage(body),
    isCacheable,
    isBoundToKey,
    referencesEarlierTurns: endpoint === 'responses' && hasPreviousReferences(body),
    echoedFields: endpoint === 'responses' ? readEchoedFields(body) : null,
    canBeStored: CAN_BE_STORED[endpoint](body),
    embeddings,
  }
}

/** Whether the provider may store parts of the response, by endpoint. */
const CAN_BE_STORED: Record<Endpoint, (body: JsonObject) => boolean> = {
  // A background response is fetched later, whatever `store` is.
  responses: ({ store, background }) => store !== false || background === true,
  // Audio, which a later turn can refer to.
  chat: ({ audio }) => (audio ?? null) !== null,
  // Containers in which tools run.
  messages: ({ container, tools }) => (container ?? tools ?? null) !== null,
  completions: () => false,
  embeddings: () => false,
  generate_content: () => false,
}

/** Whether the request asks for usage with OpenAI's field or OpenRouter's. */
function requestsUsage({ stream_options: options, usage }: JsonObject): boolean {
  return (isJsonObject(options) && options.include_usage === true) || (isJsonObject(usage) && usage.include === true)
}

/** Whether the endpoint's streams always report usage in their last event. */
function alwaysReportsUsage(endpoint: Endpoint): boolean {
  return isTranslatableEndpoint(endpoint)
}

/** Returns the same request, which must not be large, for another model. */
export function replaceModel(query: CompletionQuery, model: string): CompletionQuery {
  const body = { ...query.body, model }
  return {
    ...query,
    body,
    model,
    text: setFields(query.text, { model }),
    canonicalBody: canonicalizeBody(body, listIrrelevantFields(query.endpoint)),
  }
}

export function readModel({ model }: JsonObject): string {
  if (model === undefined || model === null) throw invalidRequestError('you must provide a model parameter.', 'model')
  if (typeof model !== 'string') throw invalidRequestError('model must be a string.', 'model')
  if (model === '' || model.length > MAX_MODEL_LENGTH || CONTROL_CHARACTERS.test(model) || !model.isWellFormed()) {
    throw invalidRequestError(`model must be 1 to ${MAX_MODEL_LENGTH} printable characters.`, 'model')
  }
  return model
}

const validateInput: Record<Endpoint, (body: JsonObject) => void> = {
  chat: validateMessages,
  messages: validateMessages,
  generate_content: validateMessages,
  responses({ input }) {
    const isAbsent = input === undefined || input === null
    if (isAbsent || typeof input === 'string' || Array.isArray(input)) return
    throw invalidRequestError('input must be a string or an array of items.', 'input')
  },
  completions({ prompt }) {
    if (typeof prompt !== 'string' && !Array.isArray(prompt)) {
      throw invalidRequestError('prompt must be a string or an array.', 'prompt')
    }
  },
  embeddings({ input }) {
    if (typeof input !== 'string' && !Array.isArray(input)) {
      throw invalidRequestError('input must be a string or an array.', 'input')
    }
    if (input.length === 0) throw invalidRequestError('input must not be empty.', 'input')
  },
}

function validateMessages({ messages }: JsonObject): void {
  if (!Array.isArray(messages)) throw invalidRequestError('messages must be an array of messages.', 'messages')
  if (messages.length === 0) throw invalidRequestError('messages must hold at least one message.', 'messages')
  messages.forEach((message: unknown, i) => {
    if (!isJsonObject(message)) throw invalidRequestError(`messages[${i}] must be an object.`, `messages[${i}]`)
    if (typeof message.role !== 'string') {
      throw invalidRequestError(`messages[${i}].role must be a string.`, `messages[${i}].role`)
    }
    const { content } = message
    if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
      throw invalidRequestError(
        `messages[${i}].content must be a string or an array of parts.`,
        `messages[${i}].content`,
      )
    }
  })
}

/** Returns the other models that may respond, in the order of the request. */
export function listAlternativeModels(body: JsonObject): string[] {
  if (body.models === undefined && body.fallbacks === undefined) return []
  const { alternatives, fallbacks } = readAlternativeModels(body)
  return [...alternatives, ...fallbacks]
}

const STREAM_HEADER = 'X-Proxy-Stream'
const FIRST_TOKEN_HEADER = 'X-Proxy-First-Token-Timeout-Ms'
const MAX_TIMEOUT_MS = 3_600_000

/** Throws a 400 that names a header with an invalid value. */
export function readDelivery(headers: Headers): Delivery {
  const firstToken = headers.get(FIRST_TOKEN_HEADER)
  const mode = headers.get(STREAM_HEADER)?.trim().toLowerCase() ?? null
  if (mode !== null && mode !== 'live' && mode !== 'whole')
    throw invalidRequestError(`${STREAM_HEADER}: must be live or whole.`, STREAM_HEADER)
  return { firstTokenMs: firstToken === null ? Number.POSITIVE_INFINITY : readTimeout(firstToken), mode }
}

function readTimeout(value: string): number {
  const milliseconds = Number(value)
  if (/^\d{1,7}$/.test(value) && milliseconds >= 1 && milliseconds <= MAX_TIMEOUT_MS) return milliseconds
  throw invalidRequestError(
    `${FIRST_TOKEN_HEADER}: must be whole milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
    FIRST_TOKEN_HEADER,
  )
}

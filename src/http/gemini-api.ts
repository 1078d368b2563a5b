/** Adapts Gemini's API to the pipeline: its paths, the request's body, and the forms of a response that its clients read. */

import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../event-loop/worker-pool.ts'
import { readProviderError } from '../formats/errors/provider-error.ts'
import { translateEmbedRequest, writeEmbedResponse } from '../formats/gemini/gemini-embeddings.ts'
import { writeGoogleProviderError } from '../formats/gemini/gemini-errors.ts'
import { GENERATE_CONTENT_FIELDS, readFields } from '../formats/gemini/gemini-fields.ts'
import { translateGeminiRequest } from '../formats/gemini/request-to-chat.ts'
import { decodeUtf8, type JsonObject, parseJsonObject, parseRequestBody } from '../formats/json/canonical.ts'
import { parseLosslessJson } from '../formats/json/lossless-json.ts'
import { checkJsonSize, isLargeBody } from '../formats/large-bodies/read-large-body.ts'
import { concatBytes, transformBytes } from '../formats/sse/split-events.ts'
import { createSseParser } from '../formats/sse/sse.ts'
import type { DirectoryModel, DirectoryPage } from '../pipeline/models/model-directory.ts'
import type { GeminiCall, ProxyResponse, RequestBody, RouteTarget } from '../pipeline/request/request.ts'

/** The target of each method, without the model. */
const METHODS = {
  generateContent: { kind: 'endpoint', endpoint: 'generate_content', model: null },
  streamGenerateContent: { kind: 'endpoint', endpoint: 'generate_content', model: null },
  embedContent: { kind: 'endpoint', endpoint: 'embeddings', model: null },
  batchEmbedContents: { kind: 'endpoint', endpoint: 'embeddings', model: null },
  countTokens: { kind: 'count', endpoint: 'generate_content' },
} as const satisfies Record<GeminiCall['method'], RouteTarget>

export const GEMINI_METHODS = Object.keys(METHODS) as GeminiCall['method'][]

/** Matches paths of Gemini's and Vertex's APIs, except the base for OpenAI's clients. The lookbehind excludes a host of this name. */
const GOOGLE_PATH = /(?<!\/)\/v1(?:beta|alpha)\d*\/(?!openai(?:\/|$))/
const COLLECTION = /\/(?:models|tunedModels)\//
const MODELS_PATH = /\/v1(?:beta|alpha)\d*\/models(?:\/([^:]+(?::[^:]+)?))?$/

/** Matches paths of methods that the proxy does not have, under any base URL. */
export const OTHER_GEMINI_METHOD =
  /:(?<called>\w*(?:Contents?|Tokens)|generateAnswer|\w*[pP]redict(?:LongRunning)?)$(?<=\/models\/.+)/

/** Whether the client expects Google's form of errors. `url` may be a path. */
export function isGoogleUrl(url: string): boolean {
  const [path = ''] = url.split('?', 1)
  return GOOGLE_PATH.test(path) || readMethod(path) !== null
}

function readMethod(path: string): GeminiCall['method'] | null {
  const name = path.slice(path.lastIndexOf(':') + 1)
  return Object.hasOwn(METHODS, name) && COLLECTION.test(path) ? (name as GeminiCall['method']) : null
}

/** Returns the target of a path of Gemini's API; null for any other path. The model may contain slashes, encoded or not. */
export function resolveGeminiTarget(pathname: string): RouteTarget | null {
  if (!pathname.includes('/models') && !pathname.includes('/tunedModels')) return null
  const path = decode(pathname)
  if (path === null) return null
  const method = readMethod(path)
  if (method === null) {
    const isModels = GOOGLE_PATH.test(path) && !OTHER_GEMINI_METHOD.test(path)
    const [match, id = null] = isModels ? (MODELS_PATH.exec(path) ?? []) : []
    return match === undefined ? null : { kind: 'models', id: id && encodeURIComponent(id) }
  }
  const start = path.search(COLLECTION)
  const model = path.slice(path.indexOf('/', start + 1) + 1, path.lastIndexOf(':')).replace(/^models\//, '')
  return model === '' ? null : { ...METHODS[method], gemini: { method, model } }
}

function decode(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return null
  }
}

/** Returns the documented path of a method. */
export function geminiPathOf({ method }: Pick<GeminiCall, 'method'>): string {
  return `/v1beta/models/{model}:${method}`
}

export interface GeminiBodyInput extends GeminiCall {
  bytes: Uint8Array
}

const TRANSLATE = new WorkerJob<GeminiBodyInput, Uint8Array>(
  new URL('./jobs.ts', import.meta.url),
  'translateGeminiBodyJob',
)

/**
 * Returns the body of a request to the proxy's own endpoint. A worker translates a large body; `owner` is the client's address, because the
 * project is not known yet. Reading it throws a 400 that names a field.
 */
export function adaptGeminiBody(body: RequestBody, call: GeminiCall, owner: string): RequestBody {
  return {
    ...body,
    async readBytes() {
      const bytes = await body.readBytes()
      if (!isLargeBody(bytes)) return translateGeminiBody({ ...call, bytes })
      const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
      return workerPool.run(TRANSLATE, { ...call, bytes: whole }, { owner, transfer: [whole.buffer as ArrayBuffer] })
    },
  }
}

export function translateGeminiBody({ bytes, method, model }: GeminiBodyInput): Uint8Array {
  checkJsonSize(bytes)
  const text = decodeUtf8(bytes)
  // Rejects equal keys, of which one would be lost.
  parseRequestBody(text)
  return Buffer.from(JSON.stringify(translate(parseLosslessJson(text) as JsonObject, method, model)))
}

function translate(body: JsonObject, method: GeminiCall['method'], model: string): JsonObject {
  switch (method) {
    case 'embedContent':
    case 'batchEmbedContents':
      return translateEmbedRequest(body, model, method === 'batchEmbedContents')
    case 'countTokens': {
      const { generateContentRequest = null, ...own } = readFields(body, '', COUNT_FIELDS)
      return translateGeminiRequest((generateContentRequest ?? own) as JsonObject, { model, isStreamed: false })
    }
    default:
      return translateGeminiRequest(body, { model, isStreamed: method === 'streamGenerateContent' })
  }
}

const COUNT_FIELDS: ReadonlySet<string> = new Set([...GENERATE_CONTENT_FIELDS, 'generateContentRequest'])

/** Returns a parameter of a URL's query; null without one. */
export function readQuery(url: string, name: string): string | null {
  const start = url.indexOf('?')
  return start < 0 ? null : new URLSearchParams(url.slice(start)).get(name)
}

/** Returns the response as Gemini's clients read it. `url` is the request's, `owner` the client's address. */
export async function adaptGeminiResponse(
  response: ProxyResponse,
  { method }: GeminiCall,
  { url, owner }: { url: string; owner: string },
): Promise<ProxyResponse> {
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false
  if (isStream) return readQuery(url, 'alt') === 'sse' ? response : writeArray(response)
  if (METHODS[method].endpoint !== 'embeddings') return response
  const bytes = await new Response(response.body as Uint8Array<ArrayBuffer>).bytes()
  const input = { method, status: response.status, bytes }
  if (bytes.length <= MAX_MAIN_THREAD_BYTES) return { ...response, ...writeEmbeddings(input) }
  return { ...response, ...(await workerPool.run(WRITE_EMBEDDINGS, input, { owner })) }
}

export interface EmbeddingsInput {
  method: GeminiCall['method']
  status: number
  bytes: Uint8Array
}

const WRITE_EMBEDDINGS = new WorkerJob<EmbeddingsInput, Pick<ProxyResponse, 'status' | 'body'>>(
  new URL('./jobs.ts', import.meta.url),
  'writeGeminiEmbeddingsJob',
)

/** Writes a response with embeddings, or a provider's error, in Gemini's form. */
export function writeEmbeddings({ method, status, bytes }: EmbeddingsInput): Pick<ProxyResponse, 'status' | 'body'> {
  const text = new TextDecoder().decode(bytes)
  if (status !== 200) {
    const error = writeGoogleProviderError(readProviderError(text, status))
    return { status: error.status, body: JSON.stringify(error.body) }
  }
  const body = parseJsonObject(text) ?? {}
  return { status, body: JSON.stringify(writeEmbedResponse(body, method === 'batchEmbedContents')) }
}

const encoder = new TextEncoder()

/** Writes a stream of events as one JSON array, the form without `alt=sse`. Each chunk of it ends with a blank line. */
function writeArray(response: ProxyResponse): ProxyResponse {
  const { body } = response
  const stream =
    body instanceof ReadableStream
      ? body
      : (new Response(body as Uint8Array<ArrayBuffer>).body ?? new Blob([]).stream())
  let hasBegun = false
  let items: Uint8Array[] = []
  const parser = createSseParser(({ data }) => {
    items.push(encoder.encode(`${hasBegun ? ',' : '['}${data}\r\n\r\n`))
    hasBegun = true
  })
  const array = transformBytes(stream, bytes => {
    if (bytes) parser.push(bytes)
    else parser.end()
    const written = items
    items = []
    if (bytes === null) return concatBytes([...written, encoder.encode(hasBegun || written.length > 0 ? ']' : '[]')])
    return written.length > 0 ? concatBytes(written) : BLANK_LINE
  })
  return { ...response, headers: { ...response.headers, 'content-type': 'application/json' }, body: array }
}

/** Passes on that the connection is alive. */
const BLANK_LINE = encoder.encode('\r\n')

/** Writes a list of models, or one model, in Gemini's form. */
export function writeGeminiModels(found: DirectoryPage | DirectoryModel): JsonObject {
  return 'data' in found ? { models: found.data.map(writeModel) } : writeModel(found)
}

function writeModel({ id, display_name, kind, context_length, max_output_tokens }: DirectoryModel): JsonObject {
  const isEmbedding = kind === 'embedding'
  return {
    name: `models/${id}`,
    version: id,
    displayName: display_name,
    ...(context_length !== null && { inputTokenLimit: context_length }),
    ...(max_output_tokens !== null && { outputTokenLimit: max_output_tokens }),
    supportedGenerationMethods: GEMINI_METHODS.filter(
      method => (METHODS[method].endpoint === 'embeddings') === isEmbedding,
    ),
  }
}

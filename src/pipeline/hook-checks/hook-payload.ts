/**
 * Encodes the JSON that the hook gets. It is written from parsed values, so that escapes cannot hide text. Credentials of MCP servers are
 * omitted, provider extras are unpacked, and a form is reduced to its texts.
 */
import { isUtf8 } from 'node:buffer'
import { copyInChunks } from '../../event-loop/chunks.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { unpackExtras } from '../../formats/chat/provider-extras.ts'
import { hasDuplicateKeys, isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../formats/json/lossless-json.ts'
import { measureJson } from '../../formats/large-bodies/read-large-body.ts'
import { type FormPart, type MultipartForm, readFormValue } from '../../formats/multipart-form.ts'
import { createSseParser } from '../../formats/sse/sse.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import type { Query } from '../request/query.ts'

const ENCODE = new WorkerJob<PayloadInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'encodeHookPayloadJob')

interface PayloadOptions {
  /** The id of the project. */
  owner: number
  maxBytes: number
  form?: HookPayloadFormat
}

/** `pictures`: a response whose pictures are omitted. `events`: a stream, encoded as the list of its events. */
export type HookPayloadFormat = 'json' | 'pictures' | 'events'

interface PayloadInput {
  bytes: Uint8Array
  form: HookPayloadFormat
}

/** Returns undefined for a request that sends nothing to a model; null if the payload is longer than `maxBytes`. */
export async function createRequestPayload(
  query: Query,
  options: PayloadOptions,
): Promise<Uint8Array | null | undefined> {
  switch (query.kind) {
    case 'completion':
    case 'explain':
      return createJsonPayload(query.bytes ?? query.text, options)
    case 'count':
      return createJsonPayload(query.sentBody, options)
    case 'pass_through':
      return createBodyPayload(query.passThroughBody, options)
    default:
      return
  }
}

/** Returns null if the payload is longer than `maxBytes`. `omitsFiles`: whether files of a form are omitted even if they are text. */
export async function createBodyPayload(
  { form, bytes }: PassThroughBody,
  { omitsFiles = false, ...options }: PayloadOptions & { omitsFiles?: boolean },
): Promise<Uint8Array | null> {
  if (!form) return createJsonPayload(bytes, options)
  const parts = form.parts.filter(part => !isFile(part) || !(omitsFiles || isBinary(form, part)))
  const length = parts.reduce((sum, { start, end }) => sum + end - start, 0)
  return length > options.maxBytes ? null : Buffer.from(JSON.stringify(expandValue(readTexts(form, parts))))
}

/** Returns null if the JSON is longer than `maxBytes`. */
export async function createJsonPayload(
  json: string | Uint8Array,
  { owner, maxBytes, form = 'json' }: PayloadOptions,
): Promise<Uint8Array | null> {
  // A string has at least as many bytes as code units.
  if (json.length > maxBytes && form !== 'pictures') return null
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  if (bytes.length <= MAX_MAIN_THREAD_BYTES) return encodeHookPayload({ bytes, form })
  const copy = await copyInChunks(bytes)
  return workerPool.run(ENCODE, { bytes: copy, form }, { owner, transfer: [copy.buffer] })
}

/** Text that is not JSON is encoded as one string. */
export function encodeHookPayload({ bytes, form }: PayloadInput): Uint8Array {
  const value = form === 'events' ? readEvents(bytes) : parseOrText(new TextDecoder().decode(bytes))
  const shown = form === 'pictures' ? omitPictures(value) : value
  return Buffer.from(JSON.stringify(expandValue(redact(shown))))
}

function parseOrText(text: string): unknown {
  return tryParseLosslessJson(text) ?? text
}

function readEvents(bytes: Uint8Array): unknown[] {
  const events: unknown[] = []
  const parser = createSseParser(({ data }) => events.push(parseOrText(data)))
  parser.push(bytes)
  parser.end()
  return events
}

function omitPictures(response: unknown): unknown {
  if (!isJsonObject(response) || !Array.isArray(response.data)) return response
  return {
    ...response,
    data: response.data.map(picture => (isJsonObject(picture) ? { ...picture, b64_json: undefined } : picture)),
  }
}

/** The fields that providers read files from. */
const FILE_FIELD = /^(?:file|image|mask|data|input_reference)(?:\[.*)?$/

/** Whether the part is a file. A provider may read any other part as text, even one with a file name. */
function isFile({ name, isFile: hasFileName }: FormPart): boolean {
  return hasFileName && FILE_FIELD.test(name)
}

/** Whether the part is binary, such as a picture or audio, and not text sent as a file. */
function isBinary({ bytes }: MultipartForm, { start, end }: FormPart): boolean {
  const value = bytes.subarray(start, end)
  return value.indexOf(0) >= 0 || !isUtf8(value)
}

function readTexts(form: MultipartForm, parts: readonly FormPart[]): JsonObject {
  const texts = Map.groupBy(parts, ({ name }) => name)
  return Object.fromEntries(
    Array.from(texts, ([name, [first, ...more]]) => {
      const values = [first, ...more].flatMap(part => (part ? readFormValue(form, part) : []))
      return [name, more.length > 0 ? values : values[0]]
    }),
  )
}

function expandValue(value: unknown): unknown {
  if (typeof value === 'string') return expandText(value)
  if (Array.isArray(value)) return value.map(expandValue)
  // Numbers that JavaScript cannot hold are objects without fields of their own.
  if (!isJsonObject(value) || Object.isFrozen(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, expandValue(each)]))
}

/** Throws a 400 for JSON within a text that is nested too deeply. */
function expandText(text: string): string {
  const extras = unpackExtras(text, null)
  if (extras) return JSON.stringify(expandValue(extras))
  const nested = mayBeEscapedJson(text) ? tryParseLosslessJson(text) : undefined
  if (nested === undefined) return text
  measureJson(Buffer.from(text))
  const shown = JSON.stringify(expandValue(nested))
  // Parsers differ in which of two equal keys they use.
  return hasDuplicateKeys(text, nested) ? `${shown}\n${decodeEscapes(text)}` : shown
}

function decodeEscapes(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Whether the text may be JSON with escapes, such as a call's arguments. A translation or the model decodes them. */
function mayBeEscapedJson(text: string): boolean {
  // raw text: a parsed value, which may itself contain JSON.
  return text.includes('\\u') && /^\s*[[{"]/.test(text)
}

/** Omits credentials for MCP servers, which no model reads, from a request, a batch's request or a response. */
function redact(body: unknown): unknown {
  if (!isJsonObject(body)) return body
  const { tools, mcp_servers: servers, body: line, requests } = body
  return {
    ...body,
    ...(Array.isArray(tools) && { tools: tools.map(redactTool) }),
    ...(Array.isArray(servers) && { mcp_servers: servers.map(redactServer) }),
    ...(isJsonObject(line) && { body: redact(line) }),
    ...(Array.isArray(requests) && { requests: requests.map(redactParams) }),
  }
}

function redactParams(request: unknown): unknown {
  return isJsonObject(request) && isJsonObject(request.params)
    ? { ...request, params: redact(request.params) }
    : request
}

function redactTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool.type !== 'mcp') return tool
  const { authorization, headers, ...shown } = tool
  return shown
}

function redactServer(server: unknown): unknown {
  if (!isJsonObject(server)) return server
  const { authorization_token, ...shown } = server
  return shown
}

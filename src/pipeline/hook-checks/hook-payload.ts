/**
 * Writes the JSON that the hook is shown, from parsed values alone, so that no escape hides anything: of a request or an answer, without the
 * credentials of MCP servers, and with packed provider extras unpacked; of a form, its texts.
 */
import { isUtf8 } from 'node:buffer'
import { copyInChunks } from '../../event-loop/copy-in-chunks.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { unpackExtras } from '../../formats/chat/provider-extras.ts'
import { hasDuplicateKeys, isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../formats/json/lossless-json.ts'
import { measureJson } from '../../formats/large-bodies/read-large-body.ts'
import { type FormPart, type MultipartForm, readFormValue } from '../../formats/multipart-form.ts'
import { createSseParser } from '../../formats/sse/sse.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import type { Query } from '../request/query.ts'

const SHOW = new WorkerJob<ToShow, Uint8Array>(new URL('../jobs.ts', import.meta.url), 'encodeHookPayloadJob')

interface ShowOptions {
  /** The project. */
  owner: number
  maxBytes: number
  form?: HookPayloadFormat
}

/** Answers with pictures are shown without them, whatever their length; a stream as the list of its events. */
export type HookPayloadFormat = 'json' | 'pictures' | 'events'

interface ToShow {
  bytes: Uint8Array
  form: HookPayloadFormat
}

/** Undefined for a request that says nothing to a model; null for one of more than `maxBytes`. */
export async function createQueryPayload(query: Query, options: ShowOptions): Promise<Uint8Array | null | undefined> {
  switch (query.kind) {
    case 'completion':
    case 'explain':
      return createJsonPayload(query.bytes ?? query.text, options)
    case 'count':
      return createJsonPayload(query.sentBody, options)
    case 'passed':
      return createBodyPayload(query.passThroughBody, options)
    default:
      return
  }
}

/** Null for one of more than `maxBytes`. `omitsFiles`: a file of a form is omitted even where it is text. */
export async function createBodyPayload(
  { form, bytes }: PassThroughBody,
  { omitsFiles = false, ...options }: ShowOptions & { omitsFiles?: boolean },
): Promise<Uint8Array | null> {
  if (!form) return createJsonPayload(bytes, options)
  const parts = form.parts.filter(part => !isFile(part) || !(omitsFiles || isBinary(form, part)))
  const length = parts.reduce((sum, { start, end }) => sum + end - start, 0)
  return length > options.maxBytes ? null : Buffer.from(JSON.stringify(showValue(textsOf(form, parts))))
}

/** Null for JSON of more than `maxBytes`. */
export async function createJsonPayload(
  json: string | Uint8Array,
  { owner, maxBytes, form = 'json' }: ShowOptions,
): Promise<Uint8Array | null> {
  // A text has at least as many bytes.
  if (json.length > maxBytes && form !== 'pictures') return null
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  if (bytes.length <= MAX_MAIN_THREAD_BYTES) return encodeHookPayload({ bytes, form })
  const copy = await copyInChunks(bytes)
  return workerPool.run(SHOW, { bytes: copy, form }, { owner, transfer: [copy.buffer] })
}

/** Text that is no JSON is shown as one text. */
export function encodeHookPayload({ bytes, form }: ToShow): Uint8Array {
  const value = form === 'events' ? readEvents(bytes) : parseOrText(new TextDecoder().decode(bytes))
  const shown = form === 'pictures' ? withoutPictures(value) : value
  return Buffer.from(JSON.stringify(showValue(redact(shown))))
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

function withoutPictures(answer: unknown): unknown {
  if (!isJsonObject(answer) || !Array.isArray(answer.data)) return answer
  return {
    ...answer,
    data: answer.data.map(picture => (isJsonObject(picture) ? { ...picture, b64_json: undefined } : picture)),
  }
}

/** The fields that providers read files from. */
const FILE_FIELD = /^(?:file|image|mask|data|input_reference)(?:\[.*)?$/

/** A provider may read any other part as text, even one with a file name. */
function isFile({ name, isFile: hasFileName }: FormPart): boolean {
  return hasFileName && FILE_FIELD.test(name)
}

/** Pictures and sound, but no text that is sent in their place. */
function isBinary({ bytes }: MultipartForm, { start, end }: FormPart): boolean {
  const value = bytes.subarray(start, end)
  return value.indexOf(0) >= 0 || !isUtf8(value)
}

function textsOf(form: MultipartForm, parts: readonly FormPart[]): JsonObject {
  const texts = Map.groupBy(parts, ({ name }) => name)
  return Object.fromEntries(
    Array.from(texts, ([name, [first, ...more]]) => {
      const values = [first, ...more].flatMap(part => (part ? readFormValue(form, part) : []))
      return [name, more.length > 0 ? values : values[0]]
    }),
  )
}

function showValue(value: unknown): unknown {
  if (typeof value === 'string') return showText(value)
  if (Array.isArray(value)) return value.map(showValue)
  // Numbers that JavaScript cannot hold are objects without fields of their own.
  if (!isJsonObject(value) || Object.isFrozen(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, showValue(each)]))
}

/** Throws a 400 for JSON within a text that is nested too deeply. */
function showText(text: string): string {
  const extras = unpackExtras(text, null)
  if (extras) return JSON.stringify(showValue(extras))
  const nested = mayBeEscapedJson(text) ? tryParseLosslessJson(text) : undefined
  if (nested === undefined) return text
  measureJson(Buffer.from(text))
  const shown = JSON.stringify(showValue(nested))
  // Readers differ in which of two equal keys they take.
  return hasDuplicateKeys(text, nested) ? `${shown}\n${decodeEscapes(text)}` : shown
}

function decodeEscapes(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** JSON within a text, such as a call's arguments, has escapes of its own: a translation reads it, or the model. */
function mayBeEscapedJson(text: string): boolean {
  // raw text: a value that was parsed, which may hold JSON of its own.
  return text.includes('\\u') && /^\s*[[{"]/.test(text)
}

/** Removes what an MCP server is told to know the client by, which no model reads: in a request, in one of a batch, in an answer. */
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

/** Reads a request's body within limits of size, time, and memory shared by all bodies. Inserts the model of the path into the body. */
import { createError, ProxyError } from '../errors/errors.ts'
import { concatInChunks, copyInChunks, MAX_UNCHUNKED_BYTES } from '../event-loop/chunks.ts'
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import { MAX_MAIN_THREAD_BYTES } from '../event-loop/worker-pool.ts'
import { decodeUtf8, parseJsonObject } from '../formats/json/canonical.ts'
import { parseMultipartForm, setFormValue } from '../formats/multipart-form.ts'
import type { RequestBody } from '../pipeline/request/request.ts'
import { decodeBody, readContentCodings } from './decode-body.ts'

export interface BodyLimits {
  maxBodyBytes: number
  /** Time from the headers to the last byte of the body. */
  bodyTimeoutMs: number
  /** Whether JSON with the form content type of `curl -d` is accepted. Never set it for cookie authentication: any page can send a form. */
  acceptsMislabeledJson?: boolean
}

/** An announced body up to this size may be read before its key is checked. */
const SMALL_BODY_BYTES = 65_536

/** A request's body, with the state of its connection and memory. */
export interface ReceivedBody extends RequestBody {
  /** Whether bytes of the body may still be arriving. The connection then accepts no other request. */
  hasUnreadBytes(): boolean
  /** Frees the body's memory. Called when the request is finished. */
  release(): void
}

/** Returns a function that opens a request's body. Reading that body throws 400, 408, 413, 415 or 503. */
export function createBodyReader(limits: BodyLimits): (request: Request) => ReceivedBody {
  const { maxBodyBytes, bodyTimeoutMs, acceptsMislabeledJson = false } = limits
  const withinBodyTimeout = createSharedTimeout(bodyTimeoutMs)
  const maxTotalBytes = MAX_BODIES_IN_MEMORY * maxBodyBytes
  /** Bytes reserved by all bodies. */
  let totalReserved = 0

  return request => {
    const { headers } = request
    const { announcedBytes, codings, isCompressed, isShort } = readHead(headers)
    let isDecoding = false
    let reserved = 0
    let isRead = false
    let isReleased = false

    function reserve(bytes: number): void {
      // The request is finished: the rest of its body is not needed.
      if (isReleased) throw new Error('The request has been answered')
      if (totalReserved + bytes > maxTotalBytes) throw createError('tooManyLargeBodies')
      totalReserved += bytes
      reserved += bytes
    }

    async function receive(): Promise<Uint8Array> {
      if (announcedBytes !== null && !isCompressed) {
        reserve(announcedBytes)
        return announcedBytes <= MAX_UNCHUNKED_BYTES ? request.bytes() : readInChunks(request, announcedBytes)
      }
      isDecoding = true
      return gather(decodeBody(request.body ?? noChunks(), codings ?? [], maxBodyBytes), reserve)
    }

    async function readBytes(acceptsForms = false): Promise<Uint8Array> {
      const isMislabeledJson = acceptsMislabeledJson && mediaTypeOf(headers) === CURL_CONTENT_TYPE
      checkType(headers, acceptsForms, isMislabeledJson)
      if (codings === null) throw createError('unsupportedContentEncoding')
      if (announcedBytes !== null && announcedBytes > maxBodyBytes)
        throw createError('bodyTooLarge', { maxBytes: maxBodyBytes })
      try {
        const bytes = await withinBodyTimeout(receive())
        isRead = true
        if (isMislabeledJson && !beginsObject(bytes)) throw wrongTypeError(acceptsForms)
        return bytes
      } catch (error) {
        throw error instanceof ProxyError ? error : createError('bodyTooSlow', { seconds: bodyTimeoutMs / 1000 }, error)
      }
    }

    return {
      contentLength: announcedBytes,
      // The decoded size of a compressed body is not announced.
      isSmall: isShort && !isCompressed,
      readBytes,
      reserveMemory: reserve,
      // Bun itself skips a small unread body.
      hasUnreadBytes: () => !isRead && (isDecoding || !isShort),
      release() {
        isReleased = true
        totalReserved -= reserved
        reserved = 0
      },
    }
  }
}

/** Copies chunks as they arrive, because one copy of the whole would block the event loop. */
async function readInChunks(request: Request, announcedBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(announcedBytes)
  let at = 0
  for await (const chunk of request.body ?? []) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  if (at < announcedBytes) throw new Error('The body ended early')
  return bytes
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}

async function gather(chunks: AsyncIterable<Uint8Array>, reserve: (bytes: number) => void): Promise<Uint8Array> {
  const gathered: Uint8Array[] = []
  for await (const chunk of chunks) {
    reserve(chunk.length)
    gathered.push(chunk)
  }
  return concatInChunks(gathered)
}

/** Prepares a response to a request whose body is not read: closes the connection if a large body may still arrive on it. */
export function closeIfBodyUnread({ headers }: Request, response: Response): Response {
  const announcedBytes = readLength(headers)
  if (announcedBytes === null || announcedBytes > SMALL_BODY_BYTES) response.headers.set('connection', 'close')
  return response
}

/** Reads the body's length and codings from the headers. `codings` is null when one of them is not supported. */
function readHead(headers: Headers) {
  const announcedBytes = readLength(headers)
  const codings = readContentCodings(headers)
  const isShort = announcedBytes !== null && announcedBytes <= SMALL_BODY_BYTES
  return { announcedBytes, codings, isCompressed: codings !== null && codings.length > 0, isShort }
}

/** Returns the length that the headers announce, 0 without one; null when the body is chunked, or its length is announced twice. */
function readLength(headers: Headers): number | null {
  if (headers.has('transfer-encoding')) return null
  const length = Number(headers.get('content-length') ?? 0)
  return Number.isSafeInteger(length) ? length : null
}

/** The Content-Type that `curl -d` sends for any body. */
const CURL_CONTENT_TYPE = 'application/x-www-form-urlencoded'

function mediaTypeOf(headers: Headers): string {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() || 'application/json'
}

function beginsObject(bytes: Uint8Array): boolean {
  return bytes.find(byte => byte > 32) === 0x7b
}

function wrongTypeError(acceptsForms: boolean): ProxyError {
  return createError('wrongContentType', { forms: acceptsForms ? 'multipart/form-data or ' : '' })
}

function checkType(headers: Headers, acceptsForms: boolean, isMislabeledJson: boolean): void {
  const type = mediaTypeOf(headers)
  const isJson = type === 'application/json' || type.endsWith('+json') || isMislabeledJson
  if (!isJson && !(acceptsForms && type === 'multipart/form-data')) throw wrongTypeError(acceptsForms)
}

/** Number of unparsed bodies of the maximum size that fit in memory together; a third as many parsed ones. Further bodies are rejected unread. */
const MAX_BODIES_IN_MEMORY = 12

/** Adds the model of the path, as Azure's clients send it, to a body without one. The body is JSON, or a form where forms are accepted. */
export function addModelToBody(body: RequestBody, contentType: string | null, model: string): RequestBody {
  const isForm = /^\s*multipart\/form-data/i.test(contentType ?? '')
  return {
    ...body,
    async readBytes(acceptsForms) {
      const bytes = await body.readBytes(acceptsForms)
      return isForm
        ? insertModelInForm(bytes, contentType ?? '', model)
        : bytes.length > MAX_MAIN_THREAD_BYTES
          ? insertModelInChunks(bytes, model)
          : Buffer.from(insertModel(decodeUtf8(bytes), model))
    },
  }
}

function insertModelInForm(bytes: Uint8Array, contentType: string, model: string): Uint8Array {
  const form = parseMultipartForm(bytes, contentType)
  return form.parts.some(({ name }) => name === 'model') ? bytes : setFormValue(form, 'model', model)
}

const OPENING_BRACE = 0x7b

/** Assumes that a long body with "model" anywhere names its model, because parsing the body would block the event loop. */
async function insertModelInChunks(bytes: Uint8Array, model: string): Promise<Uint8Array> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = body.indexOf(OPENING_BRACE)
  // raw text: a model with an escape in its key is then present twice, which is a 400.
  if (start < 0 || body.includes('"model"')) return bytes
  // A field follows the brace; else the worker rejects the body.
  const head = Buffer.concat([body.subarray(0, start + 1), Buffer.from(`"model":${JSON.stringify(model)},`)])
  return copyInChunks(body.subarray(start + 1), { before: head })
}

/** Inserts the model unless the body names one. Edits the text, so that everything else, such as the digits of numbers, stays unchanged. */
export function insertModel(bodyText: string, model: string): string {
  const start = bodyText.indexOf('{')
  if (start < 0 || hasModel(bodyText)) return bodyText
  const isEmpty = /^\s*\}/.test(bodyText.slice(start + 1, start + 100))
  return `${bodyText.slice(0, start + 1)}"model":${JSON.stringify(model)}${isEmpty ? '' : ','}${bodyText.slice(start + 1)}`
}

function hasModel(bodyText: string): boolean {
  const body = parseJsonObject(bodyText)
  return body === undefined || Object.hasOwn(body, 'model')
}

/** Reads a request's body within its limits of size and time, and within the memory that all bodies share; names the path's model in it. */
import { createError, ProxyError } from '../errors/errors.ts'
import { concatInChunks, copyInChunks } from '../event-loop/copy-in-chunks.ts'
import { MAX_UNCHUNKED_BYTES } from '../event-loop/stream-in-chunks.ts'
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import { MAX_MAIN_THREAD_BYTES } from '../event-loop/worker-pool.ts'
import { decodeUtf8, parseJsonObject } from '../formats/json/canonical.ts'
import { parseMultipartForm, setFormValue } from '../formats/multipart-form.ts'
import type { RequestBody } from '../pipeline/request/request.ts'
import { decodeBody, readContentCodings } from './decode-body.ts'

export interface BodyLimits {
  maxBodyBytes: number
  /** From the headers to the last byte of the body. */
  bodyTimeoutMs: number
  /** Whether JSON is read that `curl -d` has called a form. Not behind a cookie: any page can send a form. */
  acceptsMislabeledJson?: boolean
}

/** An announced body up to this size may be read before its key is checked. */
const SMALL_BODY_BYTES = 65_536

/** A request's body, and what it means for its connection and memory. */
export interface ReceivedBody extends RequestBody {
  /** Whether bytes of it may still be arriving: the connection can then take no other request. */
  hasUnreadBytes(): boolean
  /** Frees its memory; called when the request is answered. */
  release(): void
}

/** Returns a function that opens a request's body. Reading that body throws 400, 408, 413, 415 or 503. */
export function createBodyReader(limits: BodyLimits): (request: Request) => ReceivedBody {
  const { maxBodyBytes, bodyTimeoutMs, acceptsMislabeledJson = false } = limits
  const withinBodyTimeout = createSharedTimeout(bodyTimeoutMs)
  const mostBytes = LARGEST_BODIES * maxBodyBytes
  /** By all bodies. */
  let heldByAll = 0

  return request => {
    const { headers } = request
    const { announcedBytes, codings, isCompressed, isShort } = readHead(headers)
    let isDecoding = false
    let held = 0
    let isRead = false
    let isReleased = false

    function hold(bytes: number): void {
      // The request is over: neither bytes that still arrive nor what is made of them is needed.
      if (isReleased) throw new Error('The request has been answered')
      if (heldByAll + bytes > mostBytes) throw createError('tooManyLargeBodies')
      heldByAll += bytes
      held += bytes
    }

    async function receive(): Promise<Uint8Array> {
      if (announcedBytes !== null && !isCompressed) {
        hold(announcedBytes)
        return announcedBytes <= MAX_UNCHUNKED_BYTES ? request.bytes() : readInParts(request, announcedBytes)
      }
      isDecoding = true
      return gather(decodeBody(request.body ?? noParts(), codings ?? [], maxBodyBytes), hold)
    }

    async function readBytes(takesForms = false): Promise<Uint8Array> {
      const isMisnamed = acceptsMislabeledJson && typeOf(headers) === FORM_OF_CURL
      checkType(headers, takesForms, isMisnamed)
      if (codings === null) throw createError('unsupportedContentEncoding')
      if (announcedBytes !== null && announcedBytes > maxBodyBytes)
        throw createError('bodyTooLarge', { maxBytes: maxBodyBytes })
      try {
        const bytes = await withinBodyTimeout(receive())
        isRead = true
        if (isMisnamed && !beginsObject(bytes)) throw wrongType(takesForms)
        return bytes
      } catch (error) {
        throw error instanceof ProxyError ? error : createError('bodyTooSlow', { seconds: bodyTimeoutMs / 1000 }, error)
      }
    }

    return {
      contentLength: announcedBytes,
      // What a compressed one holds is not announced.
      isSmall: isShort && !isCompressed,
      readBytes,
      reserveMemory: hold,
      // Bun itself skips an unread body that is small.
      hasUnreadBytes: () => !isRead && (isDecoding || !isShort),
      release() {
        isReleased = true
        heldByAll -= held
        held = 0
      },
    }
  }
}

/** Copies chunks as they arrive, because one copy of the whole would block the event loop. */
async function readInParts(request: Request, announcedBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(announcedBytes)
  let at = 0
  for await (const part of request.body ?? []) {
    bytes.set(part, at)
    at += part.length
  }
  if (at < announcedBytes) throw new Error('The body ended early')
  return bytes
}

async function* noParts(): AsyncGenerator<Uint8Array> {}

async function gather(parts: AsyncIterable<Uint8Array>, hold: (bytes: number) => void): Promise<Uint8Array> {
  const gathered: Uint8Array[] = []
  for await (const part of parts) {
    hold(part.length)
    gathered.push(part)
  }
  return concatInChunks(gathered)
}

/** For a response to a request whose body is not read. Closes the connection if a large body may still arrive on it. */
export function closeIfBodyUnread({ headers }: Request, response: Response): Response {
  const announcedBytes = readLength(headers)
  if (announcedBytes === null || announcedBytes > SMALL_BODY_BYTES) response.headers.set('connection', 'close')
  return response
}

/** What is known of a body before it is read. `codings` is null when one of them is not supported. */
function readHead(headers: Headers) {
  const announcedBytes = readLength(headers)
  const codings = readContentCodings(headers)
  const isShort = announcedBytes !== null && announcedBytes <= SMALL_BODY_BYTES
  return { announcedBytes, codings, isCompressed: codings !== null && codings.length > 0, isShort }
}

/** The length that the headers announce, 0 without one; null when the body is chunked, or its length is announced twice. */
function readLength(headers: Headers): number | null {
  if (headers.has('transfer-encoding')) return null
  const length = Number(headers.get('content-length') ?? 0)
  return Number.isSafeInteger(length) ? length : null
}

/** What `curl -d` says of any body. */
const FORM_OF_CURL = 'application/x-www-form-urlencoded'

function typeOf(headers: Headers): string {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() || 'application/json'
}

function beginsObject(bytes: Uint8Array): boolean {
  return bytes.find(byte => byte > 32) === 0x7b
}

function wrongType(takesForms: boolean): ProxyError {
  return createError('wrongContentType', { forms: takesForms ? 'multipart/form-data or ' : '' })
}

function checkType(headers: Headers, takesForms: boolean, isMisnamed: boolean): void {
  const type = typeOf(headers)
  const isJson = type === 'application/json' || type.endsWith('+json') || isMisnamed
  if (!isJson && !(takesForms && type === 'multipart/form-data')) throw wrongType(takesForms)
}

/** How many bodies of the largest size fit in memory together, or a third as many that are parsed; further ones are refused unread. */
const LARGEST_BODIES = 12

/** The body with the model in the path, if it names none, as Azure's clients send it: JSON, or a form for operations that accept one. */
export function addModelToBody(body: RequestBody, contentType: string | null, model: string): RequestBody {
  const isForm = /^\s*multipart\/form-data/i.test(contentType ?? '')
  return {
    ...body,
    async readBytes(takesForms) {
      const bytes = await body.readBytes(takesForms)
      return isForm
        ? nameModelInForm(bytes, contentType ?? '', model)
        : bytes.length > MAX_MAIN_THREAD_BYTES
          ? nameModelInTurns(bytes, model)
          : Buffer.from(insertModel(decodeUtf8(bytes), model))
    },
  }
}

function nameModelInForm(bytes: Uint8Array, contentType: string, model: string): Uint8Array {
  const form = parseMultipartForm(bytes, contentType)
  return form.parts.some(({ name }) => name === 'model') ? bytes : setFormValue(form, 'model', model)
}

const OPENING_BRACE = 0x7b

/** A long body with "model" anywhere is assumed to name its model: parsing it only to find out would stall other requests. */
async function nameModelInTurns(bytes: Uint8Array, model: string): Promise<Uint8Array> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = body.indexOf(OPENING_BRACE)
  // raw text: a model that an escape hides is named twice then, which is a 400.
  if (start < 0 || body.includes('"model"')) return bytes
  // A field follows the brace; else the worker refuses the body.
  const head = Buffer.concat([body.subarray(0, start + 1), Buffer.from(`"model":${JSON.stringify(model)},`)])
  return copyInChunks(body.subarray(start + 1), { before: head })
}

/** A model in the body wins. Edits the text, so that everything else stays as the client wrote it, down to the last digit. */
export function insertModel(bodyText: string, model: string): string {
  const start = bodyText.indexOf('{')
  if (start < 0 || namesModel(bodyText)) return bodyText
  const isEmpty = /^\s*\}/.test(bodyText.slice(start + 1, start + 100))
  return `${bodyText.slice(0, start + 1)}"model":${JSON.stringify(model)}${isEmpty ? '' : ','}${bodyText.slice(start + 1)}`
}

function namesModel(bodyText: string): boolean {
  const body = parseJsonObject(bodyText)
  return body === undefined || Object.hasOwn(body, 'model')
}

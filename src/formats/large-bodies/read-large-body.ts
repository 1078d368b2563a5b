/** Measures bodies, and lets a worker parse those that are too large for the event loop. The worker returns data that is cheap to clone. */
import { invalidRequestError } from '../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import type { BodyFacts } from '../body-facts.ts'
import type { JsonObject } from '../json/canonical.ts'
import { walkJson } from '../json/walk.ts'

/** Maximum number of fields to parse on the event loop, which takes about 5 ms. An item costs an eighth of a field. */
const MAX_FIELDS_ON_LOOP = 3_000
const ITEMS_PER_FIELD = 8

export interface LargeBodyInput {
  bytes: Uint8Array
  /** Fields that the canonical body omits; undefined for the default list. */
  irrelevant: ReadonlySet<string> | undefined
}

export interface LargeBody {
  /** The body as it was sent. It is not a string, because a string of this length would be copied between threads. */
  bytes: Uint8Array
  /** Whether serializing the parsed body again could change a number: see `hasInexactNumber`. */
  hasInexactNumber: boolean
  body: JsonObject
  /** Replaces the canonical body in hashes: `#` and the hex SHA-256 of the canonical body. */
  canonicalBody: string
  facts: BodyFacts
}

/** The result of the worker. */
export interface ParsedLargeBody extends LargeBody {
  /** Memory of the parsed body in addition to its bytes. */
  heldBytes: number
}

export interface LargeBodyReader {
  /** Reads a body. The bytes are transferred to the worker and are empty afterwards. Rejects with a 400 if the body is not a valid request. */
  read(bytes: Uint8Array, options: LargeBodyOptions): Promise<LargeBody>
}

export interface LargeBodyOptions {
  irrelevant?: ReadonlySet<string> | undefined
  /** The project that sent the request. */
  owner: number
  /** Reserves memory for the parsed body; may throw. */
  hold?: (bytes: number) => void
}

const READ = new WorkerJob<LargeBodyInput, ParsedLargeBody>(new URL('./jobs.ts', import.meta.url), 'readLargeBody')

export const largeBodyReader: LargeBodyReader = {
  async read(bytes, { irrelevant, owner, hold }) {
    // A view of a larger buffer cannot be transferred.
    const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
    const transfer = [whole.buffer as ArrayBuffer]
    const { heldBytes, ...body } = await workerPool.run(READ, { bytes: whole, irrelevant }, { owner, transfer })
    hold?.(heldBytes)
    return body
  },
}

/**
 * Whether parsing the body would block the event loop, because of its length or the number of its values. Throws a 400 for a body that is
 * nested too deeply; for a long body, the worker throws it instead.
 */
export function isLargeBody(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_MAIN_THREAD_BYTES) return true
  const { fields, items } = measureJson(bytes)
  return fields + items / ITEMS_PER_FIELD > MAX_FIELDS_ON_LOOP
}

/**
 * The number of values in JSON text, counted before it is parsed. It determines the cost of parsing and cloning, which the length does not.
 */
export interface JsonSize {
  /** Members of objects. */
  fields: number
  /** Items of arrays, up to one fewer per array, and every array and object once. */
  items: number
}

/** Maximum size of a request. It allows 20,000 messages, or a third more tokens than an embeddings request may have. */
export const MAX_JSON_SIZE: JsonSize = { fields: 40_000, items: 400_000 }
/** Maximum number of distinct field names. A new name costs several times as much as a repeated one. */
export const MAX_FIELD_NAMES = 8_000
/** Maximum nesting of a request. It bounds every recursion over a body, and is deeper than any real request. */
const MAX_LEVELS = 128
/** Memory of a parsed value in addition to its text. */
const BYTES_PER_VALUE = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
// Brackets and braces differ only in this bit.
const BRACE_BIT = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

/** Counts the values in any bytes. Stops as soon as a limit is exceeded. Throws a 400 for excessive nesting. */
export function measureJson(bytes: Uint8Array): JsonSize {
  let fields = 0
  let commas = 0
  let containers = 0
  let level = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === COLON) fields++
    else if (byte === COMMA) commas++
    else if ((byte | BRACE_BIT) === OPEN) {
      containers++
      if (++level > MAX_LEVELS) throw invalidRequestError(`The request is nested more than ${MAX_LEVELS} levels deep.`)
    } else if ((byte | BRACE_BIT) === CLOSE) level--
    if (fields > MAX_JSON_SIZE.fields || commas + containers > MAX_JSON_SIZE.fields + MAX_JSON_SIZE.items) break
  }
  return { fields, items: Math.max(0, commas - fields) + containers }
}

/** Does the same as `measureJson`, and also throws a 400 for too many values. */
export function checkJsonSize(bytes: Uint8Array): JsonSize {
  const size = measureJson(bytes)
  if (size.fields > MAX_JSON_SIZE.fields)
    throw invalidRequestError(`The request has more than ${MAX_JSON_SIZE.fields} fields.`)
  if (size.items > MAX_JSON_SIZE.items)
    throw invalidRequestError(`The request has more than ${MAX_JSON_SIZE.items} array items.`)
  return size
}

/** Estimates the memory of a parsed body in addition to its bytes: its text and its values. */
export function estimateParsedBytes(length: number, { fields, items }: JsonSize): number {
  return 2 * length + BYTES_PER_VALUE * (fields + items)
}

/** Returns the position of the quote that ends the string, or of the last byte if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return bytes.length - 1
}

/** Whether the body has more distinct field names than allowed. */
export function hasTooManyFieldNames(body: JsonObject): boolean {
  const names = new Set<string>()
  walkJson(body, (_, name) => {
    if (typeof name === 'string') names.add(name)
    return names.size <= MAX_FIELD_NAMES
  })
  return names.size > MAX_FIELD_NAMES
}

/** How large a body is, and bodies too large to be parsed on the event loop: a worker parses them, and returns what is cheap to clone. */
import { invalidRequestError } from '../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import type { ContentSummary } from '../cost-factors/summarize-content.ts'
import type { JsonObject } from '../json/canonical.ts'
import type { StoredObjectReference } from '../stored-object-references.ts'

/** This many fields take the event loop some 5 ms; an item costs an eighth of a field. */
const MOST_FIELDS_ON_LOOP = 3_000
const ITEMS_A_FIELD = 8

export interface LargeBodyInput {
  bytes: Uint8Array
  /** Fields that do not count; undefined for the default list. */
  irrelevant: ReadonlySet<string> | undefined
  /** What is asked, where what the body holds bounds its cost. */
  endpoint?: string | undefined
}

export interface LargeBody {
  /** As it was sent, in bytes: a string of this length would be copied between threads. */
  bytes: Uint8Array
  /** Whether serializing the parsed body again could change a number: see `hasInexactNumber`. */
  hasInexactNumber: boolean
  body: JsonObject
  /** Replaces the canonical body in hashes: `#` and its hex SHA-256. */
  canonicalBody: string
  /** Objects kept by a provider that the body names. */
  references: StoredObjectReference[]
  /** What it holds, as far as that bounds its cost; for an endpoint alone. */
  contentSummary?: ContentSummary
}

/** What the worker tells of it. */
export interface ParsedLargeBody extends LargeBody {
  /** Memory that it takes beside its bytes. */
  heldBytes: number
}

export interface LargeBodyReader {
  /** The bytes are transferred to the worker: they are empty afterwards. Rejects with a 400 for a body that cannot be a request. */
  read(bytes: Uint8Array, options: LargeBodyOptions): Promise<LargeBody>
}

export interface LargeBodyOptions {
  irrelevant?: ReadonlySet<string> | undefined
  endpoint?: string
  /** The project whose request it is. */
  owner: number
  /** Reserves memory for what is made of the bytes; may throw. */
  hold?: (bytes: number) => void
}

const READ = new WorkerJob<LargeBodyInput, ParsedLargeBody>(new URL('./jobs.ts', import.meta.url), 'readLargeBody')

export const largeBodyReader: LargeBodyReader = {
  async read(bytes, { irrelevant, endpoint, owner, hold }) {
    // A view of a larger buffer cannot be transferred.
    const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
    const transfer = [whole.buffer as ArrayBuffer]
    const { heldBytes, ...body } = await workerPool.run(
      READ,
      { bytes: whole, irrelevant, endpoint },
      { owner, transfer },
    )
    hold?.(heldBytes)
    return body
  },
}

/**
 * Whether parsing it would block the event loop: because of its length, or of the number of its values. Throws a 400 for what is nested too
 * deeply to be parsed at all; the worker does for what is long.
 */
export function isLargeBody(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_MAIN_THREAD_BYTES) return true
  const { fields, items } = measureJson(bytes)
  return fields + items / ITEMS_A_FIELD > MOST_FIELDS_ON_LOOP
}

/**
 * The values in JSON text, counted before it is parsed, and how deep they stand: they decide what parsing and cloning cost, not the bytes.
 */
export interface JsonSize {
  /** Members of objects. */
  fields: number
  /** Items of arrays, up to one fewer per array, and every array and object once. */
  items: number
}

/** Far beyond real requests: 20,000 messages, or a third more tokens than any embeddings request may have. */
export const MAX_JSON_SIZE: JsonSize = { fields: 40_000, items: 400_000 }
/** Distinct field names; each costs several times what a repeated one does. */
export const MAX_FIELD_NAMES = 8_000
/** Deeper than any real request. Bounds every recursion over a body. */
const MOST_LEVELS = 128
/** What a parsed value takes in memory beside its text. */
const BYTES_A_VALUE = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
// Brackets and braces differ in this bit alone.
const BRACE_BIT = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

/** Reads any bytes, and stops as soon as a number is exceeded. Throws a 400 for what is nested too deeply. */
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
      if (++level > MOST_LEVELS)
        throw invalidRequestError(`The request is nested more than ${MOST_LEVELS} levels deep.`)
    } else if ((byte | BRACE_BIT) === CLOSE) level--
    if (fields > MAX_JSON_SIZE.fields || commas + containers > MAX_JSON_SIZE.fields + MAX_JSON_SIZE.items) break
  }
  return { fields, items: Math.max(0, commas - fields) + containers }
}

/** As `measureJson`, and throws a 400 for too many values, too. */
export function checkJsonSize(bytes: Uint8Array): JsonSize {
  const size = measureJson(bytes)
  if (size.fields > MAX_JSON_SIZE.fields)
    throw invalidRequestError(`The request has more than ${MAX_JSON_SIZE.fields} fields.`)
  if (size.items > MAX_JSON_SIZE.items)
    throw invalidRequestError(`The request has more than ${MAX_JSON_SIZE.items} array items.`)
  return size
}

/** About the memory that a body takes in addition to its bytes once it is parsed: its text, and its values. */
export function estimateParsedBytes(length: number, { fields, items }: JsonSize): number {
  return 2 * length + BYTES_A_VALUE * (fields + items)
}

/** Position of the quote that ends the string, or of the last byte when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return bytes.length - 1
}

/** Whether the value has more distinct field names than allowed. */
export function hasTooManyFieldNames(value: unknown): boolean {
  const names = new Set<string>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object') open.push(item)
      continue
    }
    for (const [name, field] of Object.entries(next)) {
      names.add(name)
      if (typeof field === 'object') open.push(field)
    }
    if (names.size > MAX_FIELD_NAMES) return true
  }
  return false
}

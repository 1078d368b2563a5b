/** Bodies too large to be parsed on the event loop: a worker parses them, and returns a result that is cheap to clone. */
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import type { KeptReference } from '../formats/kept-references.ts'
import type { JsonObject } from '../json/canonical.ts'
import { measureJson } from './json-size.ts'

/** This many fields take the event loop some 5 ms; an item costs an eighth of a field. */
const MOST_FIELDS_ON_LOOP = 3_000
const ITEMS_A_FIELD = 8

export interface LargeBodyInput {
  bytes: Uint8Array
  /** Fields that do not count; undefined for the default list. */
  irrelevant: ReadonlySet<string> | undefined
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
  references: KeptReference[]
}

/** What the worker tells of it. */
export interface ParsedLargeBody extends LargeBody {
  /** Memory that it takes beside its bytes. */
  heldBytes: number
}

export interface LargeBodyReader {
  /** The bytes are transferred to the worker: they are empty afterwards. Rejects with a 400 for a body that cannot be a request. */
  read(bytes: Uint8Array, options?: LargeBodyOptions): Promise<LargeBody>
}

export interface LargeBodyOptions {
  irrelevant?: ReadonlySet<string> | undefined
  /** The project whose request it is. */
  owner?: number
  /** Reserves memory for what is made of the bytes; may throw. */
  hold?: (bytes: number) => void
}

const READ = new Job<LargeBodyInput, ParsedLargeBody>(new URL('./large-body-job.ts', import.meta.url))

export const largeBodies: LargeBodyReader = {
  async read(bytes, { irrelevant, owner = 0, hold } = {}) {
    // A view of a larger buffer cannot be transferred.
    const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
    const transfer = [whole.buffer as ArrayBuffer]
    const { heldBytes, ...body } = await offLoop.run(READ, { bytes: whole, irrelevant }, { owner, transfer })
    hold?.(heldBytes)
    return body
  },
}

/**
 * Whether parsing it would block the event loop: because of its length, or of the number of its values. Throws a 400 for what is nested too
 * deeply to be parsed at all; the worker does for what is long.
 */
export function isLargeBody(bytes: Uint8Array): boolean {
  if (bytes.length > LONGEST_ON_LOOP) return true
  const { fields, items } = measureJson(bytes)
  return fields + items / ITEMS_A_FIELD > MOST_FIELDS_ON_LOOP
}

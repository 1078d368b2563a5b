/** Bodies beyond what the event loop may parse at once: a worker takes them apart, and what comes back comes in one piece of bounded cost. */
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import type { JsonObject } from '../json/json-object.ts'
import type { KeptReference } from '../openai-format/kept-references.ts'
import { measureJson } from './json-size.ts'

/** Shorter bodies hold nothing that takes long. */
const ALWAYS_LIGHT_BYTES = 16_384
/** So many fields take the event loop some 5 ms; an item costs an eighth of that. */
const MOST_FIELDS_ON_LOOP = 3_000
const ITEMS_A_FIELD = 8

export interface LargeBodyInput {
  bytes: Uint8Array
  /** Fields that do not count; undefined for the usual ones. */
  irrelevant: ReadonlySet<string> | undefined
}

export interface LargeBody {
  /** As it was sent: as bytes, for a string of this length would have to be copied between threads. */
  bytes: Uint8Array
  /** As `hasInexactNumber` has it: whether writing the parsed body anew could change a number. */
  hasInexactNumber: boolean
  body: JsonObject
  /** Stands for the canonical body in hashes: `#` and its hex SHA-256. */
  canonicalBody: string
  /** What it names that a provider keeps. */
  references: KeptReference[]
}

export interface LargeBodyReader {
  /** The bytes go to the worker: they are empty afterwards. Rejects with a 400 where they are not fit to be a request. */
  read(bytes: Uint8Array, options?: LargeBodyOptions): Promise<LargeBody>
}

export interface LargeBodyOptions {
  irrelevant?: ReadonlySet<string> | undefined
  /** The project whose request it is. */
  owner?: number
}

const READ = new Job<LargeBodyInput, LargeBody>(new URL('./large-body-job.ts', import.meta.url))

export const largeBodies: LargeBodyReader = {
  read(bytes, { irrelevant, owner = 0 } = {}) {
    // Part of a larger buffer cannot be handed over.
    const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
    return offLoop.run(READ, { bytes: whole, irrelevant }, { owner, transfer: [whole.buffer as ArrayBuffer] })
  },
}

/** Whether taking it apart would hold others up: by its length, or by what stands in so little. */
export function isLargeBody(bytes: Uint8Array): boolean {
  if (bytes.length <= ALWAYS_LIGHT_BYTES) return false
  if (bytes.length > LONGEST_ON_LOOP) return true
  const { fields, items } = measureJson(bytes)
  return fields + items / ITEMS_A_FIELD > MOST_FIELDS_ON_LOOP
}

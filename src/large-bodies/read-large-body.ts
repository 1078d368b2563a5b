/** Bodies beyond what the event loop may parse at once: a worker takes them apart, and what comes back comes in one piece of bounded cost. */
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json/json-object.ts'
import type { KeptReference } from '../openai-format/kept-references.ts'
import type { LargeBodyReply, LargeBodyRequest } from './protocol.ts'

/** Longer bodies take the worker's way: parsing and hashing this much costs the event loop some 3 ms. */
export const LARGE_BODY_BYTES = 262_144

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
  read(bytes: Uint8Array, irrelevant?: ReadonlySet<string>): Promise<LargeBody>
  close(): void
}

/** One worker, started at first need: large bodies wait for each other rather than for each other's memory. */
export function createLargeBodyReader(): LargeBodyReader {
  const waiting = new Map<number, { resolve(body: LargeBody): void; reject(error: Error): void }>()
  let worker: Worker | null = null
  let lastId = 0

  function start(): Worker {
    const started = new Worker(new URL('./large-body-worker.ts', import.meta.url))
    started.onmessage = ({ data }: MessageEvent<LargeBodyReply>) => {
      const asked = waiting.get(data.id)
      waiting.delete(data.id)
      if ('refusal' in data) asked?.reject(invalidRequest(data.refusal))
      else asked?.resolve(data)
    }
    started.onerror = event => {
      worker = null
      for (const asked of waiting.values()) asked.reject(new Error(`A large body could not be read: ${event.message}`))
      waiting.clear()
    }
    // It holds nothing that must be finished.
    started.unref()
    return started
  }

  return {
    read(bytes, irrelevant) {
      worker ??= start()
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<LargeBody>()
      waiting.set(id, { resolve, reject })
      // Part of a larger buffer cannot be handed over.
      const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
      const request: LargeBodyRequest = { id, bytes: whole, irrelevant }
      worker.postMessage(request, [whole.buffer as ArrayBuffer])
      return promise
    },
    close() {
      worker?.terminate()
      worker = null
    },
  }
}

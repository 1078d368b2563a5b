/** Decodes a compressed body as it arrives. Limits its size after every decoding step, because a small body may expand to gigabytes. */

import { createError } from '../errors/errors.ts'

type Chunks = AsyncIterable<Uint8Array>
type Decoder = TransformStream<Uint8Array, Uint8Array>

/** The formats of `DecompressionStream` by their names in Content-Encoding. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
  ['zstd', 'zstd'],
])
/** Maximum number of codings of one body. Each takes as much time as a body of the maximum size. */
const MAX_CODINGS = 3
/** Bytes decoded before the event loop gets a turn. Decoding them takes less than a millisecond. */
const BYTES_PER_TICK = 262_144

/** Returns the codings of a body in the order in which they were applied; null when one is not supported or there are too many. */
export function readContentCodings(headers: Headers): string[] | null {
  const names = (headers.get('content-encoding') ?? '').split(',').map(name => name.trim().toLowerCase())
  const codings = names.filter(name => name !== '' && name !== 'identity')
  return codings.length <= MAX_CODINGS && codings.every(name => FORMATS.has(name)) ? codings : null
}

/** Throws a 413 as soon as the body exceeds `maxBytes`, compressed or decoded, and a 400 for bytes that cannot be decoded. */
export function decodeBody(body: Chunks, codings: readonly string[], maxBytes: number): Chunks {
  return codings.reduceRight(
    (chunks, coding) => limitBytes(decodeOne(chunks, coding), maxBytes),
    limitBytes(body, maxBytes),
  )
}

async function* limitBytes(chunks: Chunks, maxBytes: number): Chunks {
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > maxBytes) throw createError('bodyTooLarge', { maxBytes })
    yield chunk
  }
}

async function* decodeOne(chunks: Chunks, coding: string): Chunks {
  const source = openStream(chunks)
  // TypeScript's type lacks brotli and zstd, which Bun supports.
  const decoder = new DecompressionStream(FORMATS.get(coding) as 'gzip') as unknown as Decoder
  let decodedBytes = 0
  try {
    for await (const chunk of source.stream.pipeThrough(decoder)) {
      decodedBytes += chunk.length
      if (decodedBytes >= BYTES_PER_TICK) {
        decodedBytes = 0
        await new Promise(setImmediate)
      }
      yield chunk
    }
  } catch (error) {
    throw source.failure() ?? createError('undecodableBody', { coding }, error)
  }
}

/** Opens a stream that records its own failure, so that callers can distinguish it from a failure of the decoder. */
function openStream(chunks: Chunks): { stream: ReadableStream<Uint8Array>; failure(): unknown } {
  const iterator = chunks[Symbol.asyncIterator]()
  let failure: unknown = null
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          failure = error
          controller.error(error)
        }
      },
      cancel() {
        // Not awaited: the client may never send the rest.
        void iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, failure: () => failure }
}

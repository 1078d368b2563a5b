/** Decodes a compressed body as it arrives, within a limit on its size at every step: a small body may say that it holds gigabytes. */

import { createError } from '../errors/errors.ts'

type Parts = AsyncIterable<Uint8Array>
type Decoder = TransformStream<Uint8Array, Uint8Array>

/** By their names in Content-Encoding. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
  ['zstd', 'zstd'],
])
/** Of one body. Each takes as much time as a body of the largest size. */
const MOST_CODINGS = 3
/** Decoding so much takes less than a millisecond. */
const BYTES_A_TURN = 262_144

/** The codings of a body, in the order in which they were applied; null when one is not supported. */
export function readContentCodings(headers: Headers): string[] | null {
  const names = (headers.get('content-encoding') ?? '').split(',').map(name => name.trim().toLowerCase())
  const codings = names.filter(name => name !== '' && name !== 'identity')
  return codings.length <= MOST_CODINGS && codings.every(name => FORMATS.has(name)) ? codings : null
}

/** Throws a 413 as soon as there is more of the body than `mostBytes`, compressed or not, and a 400 for bytes that cannot be decoded. */
export function decodeBody(body: Parts, codings: readonly string[], mostBytes: number): Parts {
  return codings.reduceRight(
    (parts, coding) => withinBytes(decodeOne(parts, coding), mostBytes),
    withinBytes(body, mostBytes),
  )
}

async function* withinBytes(parts: Parts, mostBytes: number): Parts {
  let length = 0
  for await (const part of parts) {
    length += part.length
    if (length > mostBytes) throw createError('bodyTooLarge', { maxBytes: mostBytes })
    yield part
  }
}

async function* decodeOne(parts: Parts, coding: string): Parts {
  const source = openStream(parts)
  // Its type lacks what Bun has.
  const decoder = new DecompressionStream(FORMATS.get(coding) as 'gzip') as unknown as Decoder
  let decodedBytes = 0
  try {
    for await (const part of source.stream.pipeThrough(decoder)) {
      decodedBytes += part.length
      if (decodedBytes >= BYTES_A_TURN) {
        decodedBytes = 0
        await new Promise(setImmediate)
      }
      yield part
    }
  } catch (error) {
    throw source.failure() ?? createError('undecodableBody', { coding }, error)
  }
}

/** Its failure is told apart from the decoder's own. */
function openStream(parts: Parts): { stream: ReadableStream<Uint8Array>; failure(): unknown } {
  const iterator = parts[Symbol.asyncIterator]()
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

/** Writes an embeddings response in OpenAI's format from packed vectors. A long one is written in pieces, with backpressure. */
import { unpackFloats, unpackVector } from '../../../cache/vectors/pack-vector.ts'
import type { EncodingFormat } from '../../request/embeddings-query.ts'

export interface EmbeddingsOutput {
  /** Packed vectors in the order of the inputs. */
  packed: readonly Uint8Array[]
  form: EncodingFormat
  model: string
  promptTokens: number
}

/** A piece of this size is written in a few milliseconds. */
const PIECE_BYTES = 1_048_576

/** Returns the body: bytes if it fits into one piece, else a stream. */
export function writeEmbeddingsResponse(output: EmbeddingsOutput): Uint8Array | ReadableStream<Uint8Array> {
  const pieces = writePieces(output)
  const first = pieces.next().value ?? new Uint8Array(0)
  let next = pieces.next()
  if (next.done) return first
  return new ReadableStream(
    {
      start: controller => controller.enqueue(first),
      async pull(controller) {
        // Yields to the event loop between two pieces.
        await new Promise(setImmediate)
        if (next.done) return controller.close()
        controller.enqueue(next.value)
        next = pieces.next()
      },
    },
    { highWaterMark: 1 },
  )
}

function* writePieces({ packed, form, model, promptTokens }: EmbeddingsOutput): Generator<Uint8Array, undefined> {
  const write = form === 'base64' ? writeBase64 : writeList
  let parts: Uint8Array[] = [Buffer.from('{"object":"list","data":[')]
  let bytes = 0
  for (const [index, vector] of packed.entries()) {
    const comma = index === 0 ? '' : ','
    const written = write(vector)
    parts.push(Buffer.from(`${comma}{"object":"embedding","index":${index},"embedding":`), written, CLOSE)
    bytes += written.length
    if (bytes < PIECE_BYTES) continue
    yield Buffer.concat(parts)
    parts = []
    bytes = 0
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  parts.push(Buffer.from(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`))
  yield Buffer.concat(parts)
}

const CLOSE = Buffer.from('}')

function writeBase64(packed: Uint8Array): Uint8Array {
  const floats = unpackFloats(packed)
  const text = Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString('base64')
  return Buffer.from(`"${text}"`, 'latin1')
}

function writeList(packed: Uint8Array): Uint8Array {
  return Buffer.from(JSON.stringify(Array.from(unpackVector(packed))), 'latin1')
}

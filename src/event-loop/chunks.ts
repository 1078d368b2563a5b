/** Streams, copies and collects large byte arrays in chunks: a copy at once would block the event loop. */

/** Longer bytes are streamed to a provider, and copied in chunks of this length. Copying this much takes less than a millisecond. */
export const MAX_UNCHUNKED_BYTES = 1_048_576
const STREAMED_BYTES = 262_144

/** Returns a stream that yields to the event loop before each chunk. */
export function streamInChunks(bytes: Uint8Array | Promise<Uint8Array>): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const whole = await bytes
        await new Promise(setImmediate)
        controller.enqueue(whole.subarray(at, at + STREAMED_BYTES))
        at += STREAMED_BYTES
        if (at >= whole.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

const EMPTY = new Uint8Array(0)

/** Returns a copy of the bytes, with `before` in front and `behind` at the end. The copy can be transferred to a worker. */
export async function copyInChunks(
  bytes: Uint8Array,
  { before = EMPTY, behind = EMPTY }: { before?: Uint8Array; behind?: Uint8Array } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(before.length + bytes.length + behind.length)
  copy.set(before)
  copy.set(behind, before.length + bytes.length)
  for (let at = 0; at < bytes.length; at += MAX_UNCHUNKED_BYTES) {
    copy.set(bytes.subarray(at, at + MAX_UNCHUNKED_BYTES), before.length + at)
    await new Promise(setImmediate)
  }
  return copy
}

/** Concatenates parts, each of which must be small. */
export async function concatInChunks(parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  let yieldAt = MAX_UNCHUNKED_BYTES
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
    if (at < yieldAt) continue
    yieldAt = at + MAX_UNCHUNKED_BYTES
    await new Promise(setImmediate)
  }
  return joined
}

/** Collects bytes as they arrive, in blocks that can be transferred to a worker without a long copy. */
export class ByteCollector {
  readonly #blocks: Uint8Array<ArrayBuffer>[] = []
  #used = MAX_UNCHUNKED_BYTES
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Copies the bytes: a buffer that belongs to other code is never transferred. */
  add(bytes: Uint8Array): void {
    this.#length += bytes.length
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === MAX_UNCHUNKED_BYTES) {
        this.#blocks.push(new Uint8Array(MAX_UNCHUNKED_BYTES))
        this.#used = 0
      }
      const part = bytes.subarray(at, at + MAX_UNCHUNKED_BYTES - this.#used)
      this.#blocks.at(-1)?.set(part, this.#used)
      this.#used += part.length
      at += part.length
    }
  }

  /** The bytes in order. Each part has its own buffer. */
  get parts(): Uint8Array<ArrayBuffer>[] {
    return this.#blocks.map((block, at) => (at === this.#blocks.length - 1 ? block.subarray(0, this.#used) : block))
  }

  /** The buffers to transfer with a job. */
  get buffers(): ArrayBuffer[] {
    return this.#blocks.map(block => block.buffer)
  }
}

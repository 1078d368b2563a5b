/** Collects bytes as they arrive, in blocks that can be transferred to a worker without a long copy. */

const BLOCK_BYTES = 1_048_576

export class ByteCollector {
  readonly #blocks: Uint8Array<ArrayBuffer>[] = []
  #used = BLOCK_BYTES
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Copies the bytes: a buffer that belongs to other code is never transferred. */
  add(bytes: Uint8Array): void {
    this.#length += bytes.length
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === BLOCK_BYTES) {
        this.#blocks.push(new Uint8Array(BLOCK_BYTES))
        this.#used = 0
      }
      const part = bytes.subarray(at, at + BLOCK_BYTES - this.#used)
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

/** Bytes that are read on demand. A ReadableStream is one; a source of our own keeps and leaves behind a fraction of what a stream does. */

export interface ByteReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value: Uint8Array | undefined }>
  cancel(reason?: unknown): Promise<void>
}

export interface ByteSource extends AsyncIterable<Uint8Array> {
  getReader(): ByteReader
  cancel(reason?: unknown): Promise<void>
}

export const ENDED = { done: true, value: undefined } as const

/** A source with one reader, which must not be asked again before it has answered. Once it is cancelled, it is at its end. */
export function sourceOf(reader: ByteReader): ByteSource {
  return {
    getReader: () => reader,
    cancel: reason => reader.cancel(reason),
    [Symbol.asyncIterator]: () => iterate(reader),
  }
}

/** Whoever leaves the loop early cancels the source. */
async function* iterate(reader: ByteReader): AsyncGenerator<Uint8Array, void> {
  let isOver = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isOver = done
      if (done) return
      yield value
    }
  } finally {
    if (!isOver) await reader.cancel()
  }
}

export function isSource(body: ByteSource | Uint8Array | string): body is ByteSource {
  return typeof body !== 'string' && !(body instanceof Uint8Array)
}

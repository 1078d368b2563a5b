/** Reads learned models, which are JSON compressed by Brotli. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

export interface PackedModel<Model> {
  /** Identifies the model: the start of the file's SHA-256. */
  readonly hash: string
  /** Returns the model, which is unpacked at the first use. */
  read(): Model
}

/** Returns a model, whose file is read at the first use. */
export function openPackedModel<Model>(file: URL): PackedModel<Model> {
  const packed = lazily(() => readFileSync(file))
  const hash = lazily(() => createHash('sha256').update(packed()).digest('hex').slice(0, 12))
  return {
    get hash() {
      return hash()
    },
    read: lazily(() => JSON.parse(brotliDecompressSync(packed()).toString()) as Model),
  }
}

/** Returns a function that makes its value at the first call. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

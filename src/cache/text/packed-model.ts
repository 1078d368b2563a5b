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

export function openPackedModel<Model>(file: URL): PackedModel<Model> {
  const packed = readFileSync(file)
  let model: Model | undefined
  return {
    hash: createHash('sha256').update(packed).digest('hex').slice(0, 12),
    read() {
      model ??= JSON.parse(brotliDecompressSync(packed).toString()) as Model
      return model
    },
  }
}

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

export interface PackedModel<Model> {
  readonly model: Model
  /** Identifies the model: the start of the file's SHA-256. */
  readonly hash: string
}

/** Reads a learned model, which is JSON compressed by Brotli. */
export function readPackedModel<Model>(file: URL): PackedModel<Model> {
  const packed = readFileSync(file)
  const hash = createHash('sha256').update(packed).digest('hex').slice(0, 12)
  return { model: JSON.parse(brotliDecompressSync(packed).toString()) as Model, hash }
}

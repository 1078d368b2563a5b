/** Compresses request bodies with the codings of the Content-Encoding header. */
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const ENCODERS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  gzip: bytes => gzipSync(bytes),
  'x-gzip': bytes => gzipSync(bytes),
  deflate: bytes => deflateSync(bytes),
  br: bytes => brotliCompressSync(bytes, brotliOptions),
  zstd: bytes => zstdCompressSync(bytes),
  identity: bytes => bytes,
}

export const CODINGS = ['gzip', 'deflate', 'br', 'zstd'] as const

/** `codings` is the header's value, such as `gzip, zstd`. */
export function encodeBody(body: string | Uint8Array, codings: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const names = codings.split(',').map(name => name.trim().toLowerCase())
  return new Uint8Array(names.reduce((encoded, name) => ENCODERS[name]?.(encoded) ?? encoded, bytes))
}

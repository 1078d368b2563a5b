/** A digest of the request, on which a sandbox response depends and on nothing else. */
import { createHash } from 'node:crypto'
import type { Request } from './fields.ts'

/** Hex SHA-256 of the request. Delivery does not count: streamed and plain requests share a digest. */
export function digestRequest(endpoint: string, request: Request): string {
  const { stream: _, stream_options: __, ...rest } = request
  return digestText(`${endpoint}\n${JSON.stringify(rest)}`)
}

export function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

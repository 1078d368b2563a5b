/** Writes a plain response as the events it would have been streamed in. */

import { formatOf } from '../formats/format-of.ts'
import { parseJsonObject } from '../json/json-object.ts'
import type { Endpoint } from '../providers/upstream.ts'

export interface ReplayInput {
  endpoint: Endpoint
  includeUsage: boolean
  body: Uint8Array
}

const decoder = new TextDecoder()

export function writeReplay({ endpoint, includeUsage, body }: ReplayInput): Uint8Array {
  const response = parseJsonObject(decoder.decode(body))
  if (!response) throw new Error('A stored response is not a JSON object')
  return formatOf(endpoint).replay(response, includeUsage)
}

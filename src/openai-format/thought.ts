/** Where chat answers keep what a model thought: vendors name the text differently, and some add what proves it theirs. */

import { isJsonObject, type JsonObject, parseJsonObject, readField } from '../json/json-object.ts'

const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const
/** What must come back unchanged in the next request for the model to know its own thoughts again. */
const PROOF_FIELDS = ['reasoning_details', 'thinking_blocks'] as const
/** Begins a text that holds such proof; no vendor's own does. */
const PREFIX = 'mp1.'

/** The thought in a message or a delta; '' where there is none. The same text under two names counts once. */
export function readThought(message: JsonObject): string {
  for (const field of TEXT_FIELDS) {
    const text = readField(message, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return ''
}

/** The fields of a message or a delta that prove its thoughts; empty where it has none. */
export function readProof(message: JsonObject): JsonObject {
  const proof: JsonObject = {}
  for (const field of PROOF_FIELDS) {
    const value = readField(message, field)
    if (Array.isArray(value) && value.length > 0) proof[field] = value
  }
  return proof
}

/** Proof as one opaque text, for formats that have room for a signature; null for none. */
export function packProof(proof: JsonObject): string | null {
  if (Object.keys(proof).length === 0) return null
  return PREFIX + Buffer.from(JSON.stringify(proof)).toString('base64url')
}

/** The fields of a message that `packProof` was given; null for any other text, a vendor's own signature included. */
export function unpackProof(text: unknown): JsonObject | null {
  if (typeof text !== 'string' || !text.startsWith(PREFIX)) return null
  const packed = parseJsonObject(Buffer.from(text.slice(PREFIX.length), 'base64url').toString())
  return isJsonObject(packed) ? readProof(packed) : null
}

/** Reads a model's reasoning in chat responses: vendors name the text differently, and some add a proof that it is theirs. */

import { isJsonObject, type JsonObject, parseJsonObject, readField } from '../json/json-object.ts'

const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const
/** The client must return these unchanged in its next request: without them, a model does not accept its own reasoning. */
const PROOF_FIELDS = ['reasoning_details', 'thinking_blocks'] as const
/** Begins a text that contains such a proof; no vendor's signature begins like this. */
const PREFIX = 'mp1.'

/** The reasoning in a message or a delta; '' when there is none. The same text under two names counts once. */
export function readThought(message: JsonObject): string {
  for (const field of TEXT_FIELDS) {
    const text = readField(message, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return ''
}

/** The fields that prove a message's or a delta's reasoning; empty when it has none. */
export function readProof(message: JsonObject): JsonObject {
  const proof: JsonObject = {}
  for (const field of PROOF_FIELDS) {
    const value = readField(message, field)
    if (Array.isArray(value) && value.length > 0) proof[field] = value
  }
  return proof
}

/** Packs a proof into one opaque text, for formats with a signature field; null without a proof. */
export function packProof(proof: JsonObject): string | null {
  if (Object.keys(proof).length === 0) return null
  return PREFIX + Buffer.from(JSON.stringify(proof)).toString('base64url')
}

/** The inverse of `packProof`; null for any other text, such as a vendor's own signature. */
export function unpackProof(text: unknown): JsonObject | null {
  if (typeof text !== 'string' || !text.startsWith(PREFIX)) return null
  const packed = parseJsonObject(Buffer.from(text.slice(PREFIX.length), 'base64url').toString())
  return isJsonObject(packed) ? readProof(packed) : null
}

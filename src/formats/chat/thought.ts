/** Reads a model's reasoning in chat responses: vendors name the text differently, and some add a proof that it is the model's. */

import { isJsonObject, type JsonObject, parseJsonObject, readField } from '../json/canonical.ts'

const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const
/** Vendors require these unchanged in the next request: otherwise the model does not get its earlier reasoning back. */
const PROOF_FIELDS = ['reasoning_details', 'thinking_blocks'] as const
/** Begins a packed proof. No vendor's own signature begins with it. */
const PREFIX = 'mp1.'

/** The reasoning text in a message or a delta; '' when there is none. Repeated under a second name, the text counts once. */
export function readThought(message: JsonObject): string {
  for (const field of TEXT_FIELDS) {
    const text = readField(message, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return ''
}

/** The fields of a message or a delta that prove its reasoning; empty when it has none. */
export function readProof(message: JsonObject): JsonObject {
  const proof: JsonObject = {}
  for (const field of PROOF_FIELDS) {
    const value = readField(message, field)
    if (Array.isArray(value) && value.length > 0) proof[field] = value
  }
  return proof
}

/**
 * Whether a proof that has begun is still growing. Anthropic's blocks arrive whole. Aggregators' details come in pieces, of which the
 * signature is the last: it may follow the text, or even the response's content.
 */
export function isGrowing({ reasoning_details: details }: JsonObject): boolean {
  if (!Array.isArray(details)) return false
  const last: unknown = details.at(-1)
  return !isJsonObject(last) || (last.type !== 'reasoning.encrypted' && !last.signature)
}

/** Whether there is a proof, and all of it. */
export function isWhole(proof: JsonObject): boolean {
  return Object.keys(proof).length > 0 && !isGrowing(proof)
}

/** Packs the proof into one opaque text, for formats with a signature field. Returns null for an empty proof. */
export function packProof(proof: JsonObject): string | null {
  if (Object.keys(proof).length === 0) return null
  return PREFIX + Buffer.from(JSON.stringify(proof)).toString('base64url')
}

/** Reverses `packProof`. Returns null for any other text, a vendor's own signature included. */
export function unpackProof(text: unknown): JsonObject | null {
  if (typeof text !== 'string' || !text.startsWith(PREFIX)) return null
  const packed = parseJsonObject(Buffer.from(text.slice(PREFIX.length), 'base64url').toString())
  return isJsonObject(packed) ? readProof(packed) : null
}

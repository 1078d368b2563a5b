/**
 * An alias: another wording of an entry's question, which is answered like an exact request from the second time on.
 *
 * The fast store keeps it under the wording's exact key: one line with the entry's own key and the reason why the two match. It is gone
 * with the entry, after a purge, and after a change of the settings it was found under.
 */
import { decodeEntry } from './entry.ts'
import type { SemanticMatch, SemanticReason } from './match.ts'

/** Marks an alias, whose target windows.lua reads in the same call. */
const FORM = 3
const LINE_FEED = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export interface Alias {
  /** The entry's exact key. */
  target: string
  id: string
  similarity: number
  reason: SemanticReason
  /** Hex SHA-256 of the wording in normalized form. */
  askedHash: string
  /** The project's settings under which the match was made. */
  settings: string
}

export function encodeAlias({ target, id, similarity, reason, settings, askedHash }: Alias): Uint8Array {
  const line = [FORM, target, id, similarity, reason, settings, askedHash]
  return encoder.encode(`${JSON.stringify(line)}\n`)
}

export function isAlias(bytes: Uint8Array): boolean {
  return bytes[0] === OPENING && bytes[1] === FORM_DIGIT
}

/** A name in the store ends with the hex hash of its request. */
const HASH_LENGTH = 64
const OPENING = '['.charCodeAt(0)
const FORM_DIGIT = String(FORM).charCodeAt(0)

/**
 * Returns the match that an alias and the entry after it make; null when the settings have changed since, or the bytes have another
 * format.
 */
export function decodeAliasedEntry(bytes: Uint8Array, settings: string): SemanticMatch | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0) return null
  try {
    const line: unknown = JSON.parse(decoder.decode(bytes.subarray(0, end)))
    if (!Array.isArray(line) || line.length !== 7 || line[5] !== settings) return null
    const entry = decodeEntry(bytes.subarray(end + 1))
    if (!entry) return null
    const [, target, id, similarity, reason, , askedHash] = line
    return {
      result: 'HIT-SEMANTIC',
      id: String(id),
      similarity: Number(similarity),
      reason: reason as SemanticReason,
      askedHash: String(askedHash),
      entryHash: String(target).slice(-HASH_LENGTH),
      entry,
    }
  } catch {
    return null
  }
}

/**
 * A wording as a further name of an entry: who asked in other words once is answered the second time like an exact request.
 *
 * In the fast store it stands under the exact key of that wording, as one line that names the entry's own key and says why the two
 * may be taken for one. It dies with the entry, with a purge, and with the settings it was found under.
 */
import type { Exchange } from '../postgres/equivalences.ts'
import { decodeEntry } from './entry.ts'
import type { SemanticMatch, SemanticReason } from './match.ts'

/** What the store looks for to follow the name: see windows.lua. */
const FORM = 2
const LINE_FEED = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export interface Alias {
  /** The exact key of the entry. */
  target: string
  id: string
  similarity: number
  reason: SemanticReason
  /** Hex SHA-256 of the wording as proof writes it. */
  askedHash: string
  /** Under which settings of the project the match was made. */
  settings: string
  exchange: Exchange | null
}

export function encodeAlias({ target, id, similarity, reason, settings, askedHash, exchange }: Alias): Uint8Array {
  const line = [FORM, target, id, similarity, reason, settings, askedHash, exchange]
  return encoder.encode(`${JSON.stringify(line)}\n`)
}

export function isAlias(bytes: Uint8Array): boolean {
  return bytes[0] === OPENING && bytes[1] === FORM_DIGIT
}

/** A name in the store ends with the hash of its request, in hex. */
const HASH_LENGTH = 64
const OPENING = '['.charCodeAt(0)
const FORM_DIGIT = String(FORM).charCodeAt(0)

/** The match that an alias and the entry behind it make; null where the settings have changed since, or the bytes are of another form. */
export function decodeAliasedEntry(bytes: Uint8Array, settings: string): SemanticMatch | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0) return null
  try {
    const line: unknown = JSON.parse(decoder.decode(bytes.subarray(0, end)))
    if (!Array.isArray(line) || line.length !== 8 || line[5] !== settings) return null
    const entry = decodeEntry(bytes.subarray(end + 1))
    if (!entry) return null
    const [, target, id, similarity, reason, , askedHash, exchange] = line
    return {
      result: 'HIT-SEMANTIC',
      id: String(id),
      similarity: Number(similarity),
      reason: reason as SemanticReason,
      askedHash: String(askedHash),
      entryHash: String(target).slice(-HASH_LENGTH),
      exchange: exchange as Exchange | null,
      entry,
    }
  } catch {
    return null
  }
}

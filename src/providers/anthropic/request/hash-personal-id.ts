/** Hashes personal data in `metadata.user_id`: Anthropic asks for an id that does not identify a person. */
import { sha256 } from '../../../formats/json/canonical.ts'

/** The upper bound on the characters of an e-mail address. A longer text is neither an address nor a phone number. */
const MAX_CHARS = 320
const EMAIL = /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/
/** Matches phone numbers: digits with a leading plus, in groups, or 7 to 15 of them. */
const PHONE = /^(?:\+[\d\s().\-/]+|\(?\d+\)?(?:[\s().\-/]+\d+)+|\d{7,15})$/
const PHONE_DIGITS = { min: 7, max: 15 }

/** Returns the SHA-256 of an e-mail address or phone number, regardless of its spacing. Returns any other id unchanged. */
export function hashPersonalId(id: string): string {
  const trimmed = id.trim()
  if (trimmed.length > MAX_CHARS) return id
  if (EMAIL.test(trimmed)) return sha256(trimmed.toLowerCase())
  const digits = trimmed.replace(/\D/g, '')
  const isPhone = PHONE.test(trimmed) && digits.length >= PHONE_DIGITS.min && digits.length <= PHONE_DIGITS.max
  return isPhone ? sha256(digits) : id
}

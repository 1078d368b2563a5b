/** Hashes personal data in `metadata.user_id`: Anthropic asks for an id that does not identify a person. */
import { sha256 } from '../../../formats/json/canonical.ts'

/** More than an e-mail address or a phone number may have: what is longer is neither. */
const LONGEST_CHARS = 320
const EMAIL = /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/
/** Digits as phone numbers are written: with a leading plus, or in groups. */
const PHONE = /^(?:\+[\d\s().\-/]+|\(?\d+\)?(?:[\s().\-/]+\d+)+|\d{7,15})$/
const PHONE_DIGITS = { least: 7, most: 15 }

/** Returns the SHA-256 of an e-mail address or phone number, independent of spacing; any other id unchanged. */
export function hashPersonalId(id: string): string {
  const trimmed = id.trim()
  if (trimmed.length > LONGEST_CHARS) return id
  if (EMAIL.test(trimmed)) return sha256(trimmed.toLowerCase())
  const digits = trimmed.replace(/\D/g, '')
  const isPhone = PHONE.test(trimmed) && digits.length >= PHONE_DIGITS.least && digits.length <= PHONE_DIGITS.most
  return isPhone ? sha256(digits) : id
}

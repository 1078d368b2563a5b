/** Keeps what names a person out of `metadata.user_id`: Anthropic asks for an id that says nothing of who it is. */
import { createHash } from 'node:crypto'

const EMAIL = /^[^@\s]+@[^@\s]+\.[^@\s]+$/
/** Digits as phones are written: with a plus in front, or in groups. */
const PHONE = /^(?:\+[\d\s().\-/]+|\(?\d+\)?(?:[\s().\-/]+\d+)+|\d{7,15})$/
const PHONE_DIGITS = { least: 7, most: 15 }

/** An e-mail address or a phone number as its SHA-256, the same for the same one however it is spaced; any other id as it is. */
export function hidePerson(id: string): string {
  const trimmed = id.trim()
  if (EMAIL.test(trimmed)) return digest(trimmed.toLowerCase())
  const digits = trimmed.replace(/\D/g, '')
  const isPhone = PHONE.test(trimmed) && digits.length >= PHONE_DIGITS.least && digits.length <= PHONE_DIGITS.most
  return isPhone ? digest(digits) : id
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

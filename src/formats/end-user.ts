/** Reads the end user that a request names, and creates the form in which end users are recorded. */
import type { JsonObject } from './json/canonical.ts'

/** Returns OpenAI's safety_identifier, else user, else metadata.user_id, which Anthropic also has; null when the request names no end user. */
export function endUserOf({ safety_identifier, user, metadata }: JsonObject): string | null {
  const tagged = (metadata as { user_id?: unknown } | null | undefined)?.user_id
  const named = [safety_identifier, user, tagged].find(each => each !== undefined && each !== null && each !== '')
  // A value other than text still identifies an end user.
  return named === undefined || typeof named === 'string' ? (named ?? null) : JSON.stringify(named)
}

/** Returns a request's end user in the form in which it is recorded, stored and purged; null when the request names none. */
export function recordedEndUserOf(body: JsonObject): string | null {
  const named = endUserOf(body)
  return named === null ? null : shortenEndUser(named)
}

/** Maximum number of characters of a recorded name. */
const MAX_NAME_CHARS = 128
const MAX_PREFIX_CHARS = 95
/** Matches control characters and invisible direction marks. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu
/** Matches the hash at the end of a shortened name. */
const HASH_SUFFIX = /…[0-9a-f]{32}$/

/**
 * Returns the unique recorded form of a name: the name itself or, if it is long, unprintable or looks like a shortened name, its prefix
 * with a hash of the whole. The SQL function name_end_user() does the same.
 */
export function shortenEndUser(name: string): string {
  if (isShort(name) && name.search(UNPRINTABLE) < 0 && name.isWellFormed() && !isShortenedEndUser(name)) return name
  const prefix = Array.from(name.slice(0, 2 * MAX_PREFIX_CHARS))
    .slice(0, MAX_PREFIX_CHARS)
    .join('')
  return `${prefix.replace(UNPRINTABLE, ' ').toWellFormed()}…${hashOf(name).slice(0, 32)}`
}

/** Returns the recorded form of a name that a person has copied from a list, where it may be shortened already. */
export function toRecordedEndUser(name: string): string {
  return isShortenedEndUser(name) ? name : shortenEndUser(name)
}

/** Whether a recorded name looks shortened. */
function isShortenedEndUser(name: string): boolean {
  return HASH_SUFFIX.test(name)
}

/** Whether the name has at most MAX_NAME_CHARS code points, which is how SQL counts characters. */
function isShort(name: string): boolean {
  return (
    name.length <= MAX_NAME_CHARS || (name.length <= 2 * MAX_NAME_CHARS && Array.from(name).length <= MAX_NAME_CHARS)
  )
}

/** Hashes a name. Different lone surrogates get different hashes; the prefix 0xff occurs in no UTF-8. */
function hashOf(name: string): string {
  return Bun.SHA256.hash(
    name.isWellFormed() ? name : Buffer.concat([Buffer.of(0xff), Buffer.from(name, 'utf16le')]),
    'hex',
  )
}

/** Whom a request is for, as its client names them, and as they are recorded. */
import type { JsonObject } from './json/canonical.ts'

/** OpenAI's safety_identifier, else user, else metadata.user_id, which is Anthropic's too. Null: nobody is named. */
export function endUserOf({ safety_identifier, user, metadata }: JsonObject): string | null {
  const tagged = (metadata as { user_id?: unknown } | null | undefined)?.user_id
  const named = [safety_identifier, user, tagged].find(each => each !== undefined && each !== null && each !== '')
  // Who is named by something else than text is still somebody.
  return named === undefined || typeof named === 'string' ? (named ?? null) : JSON.stringify(named)
}

/** The same of a request, in the form in which it is recorded, stored and purged. */
export function recordedEndUserOf(body: JsonObject): string | null {
  const named = endUserOf(body)
  return named === null ? null : shortenEndUser(named)
}

/** Characters that are recorded of a name. */
const LONGEST = 128
const LONGEST_BEGINNING = 95
/** Control characters, and the invisible ones that turn a text's direction. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu
/** What follows the beginning of a name that is not recorded as it is. */
const CUT = /…[0-9a-f]{32}$/

/**
 * The recorded form of a name, which is nobody else's: the name itself or, where it is long, unprintable or looks like such a form, its
 * beginning with a hash of the whole. name_end_user() is the same in SQL.
 */
export function shortenEndUser(name: string): string {
  if (isShort(name) && name.search(UNPRINTABLE) < 0 && name.isWellFormed() && !isShortenedEndUser(name)) return name
  const beginning = Array.from(name.slice(0, 2 * LONGEST_BEGINNING))
    .slice(0, LONGEST_BEGINNING)
    .join('')
  return `${beginning.replace(UNPRINTABLE, ' ').toWellFormed()}…${hashOf(name).slice(0, 32)}`
}

/** Whether it is a recorded form that was cut, unless somebody is really called so. */
export function isShortenedEndUser(name: string): boolean {
  return CUT.test(name)
}

/** In code points, as SQL counts. */
function isShort(name: string): boolean {
  return name.length <= LONGEST || (name.length <= 2 * LONGEST && Array.from(name).length <= LONGEST)
}

/** Halves of characters are told apart, too: 0xff is in no UTF-8. */
function hashOf(name: string): string {
  return Bun.SHA256.hash(
    name.isWellFormed() ? name : Buffer.concat([Buffer.of(0xff), Buffer.from(name, 'utf16le')]),
    'hex',
  )
}

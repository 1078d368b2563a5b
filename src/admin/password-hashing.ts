/** New passwords: how long they must be, and which are too easy to guess. */
import { invalidRequestError } from '../errors/errors.ts'
import { limitConcurrency } from '../event-loop/limit-concurrency.ts'

/** In characters: long enough to resist guessing; short enough to hash. */
export const PASSWORD_LENGTH = { minLength: 12, maxLength: 200 }

/** Characters that do not follow from those before them. */
const LEAST_UNPREDICTABLE = 8
const LEAST_REPEATED = 3
/** A neighbour in one of these, in either direction, follows from the character before it. */
const RUNS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']
/** Known to whoever guesses, beside the user's address. */
const KNOWN = ['password', 'model proxy', 'modelproxy']

/** Each hash takes 64 MiB, and most of a core for a tenth of a second. */
const HASHES_AT_ONCE = 2
/** They wait some five seconds. */
const MOST_WAITING = 100
export const limitHashing = limitConcurrency(HASHES_AT_ONCE, MOST_WAITING)

export function hashPassword(password: string): Promise<string> {
  return limitHashing(() => Bun.password.hash(password, { algorithm: 'argon2id' }))
}

/** Returns the hash. Throws a 400 for a password that is too easy to guess; `field` names it in the request. */
export function hashNewPassword(password: string, email: string, field = 'password'): Promise<string> {
  if (isWeakPassword(password, email)) throw invalidRequestError(EASY_TO_GUESS, field)
  return hashPassword(password)
}

const EASY_TO_GUESS =
  'This password is too easy to guess: it mostly repeats itself, counts up, or says your e-mail address. Choose a few unrelated words.'

/** Whether little is left of it without the user's address, known words, repetition and runs such as `abc` and `321`. */
export function isWeakPassword(password: string, email: string): boolean {
  const address = email.trim().toLowerCase()
  const [name = '', domain = ''] = address.split('@')
  const known = [address, name, domain, domain.split('.')[0] ?? '', ...KNOWN].filter(
    word => word.length >= LEAST_REPEATED,
  )
  const rest = known.reduce((text, word) => text.replaceAll(word, ' '), password.toLowerCase())
  return countUnpredictable(rest) < LEAST_UNPREDICTABLE
}

function countUnpredictable(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; ) {
    if (!follows(text[at - 1], text[at] ?? '')) count++
    at += Math.max(1, lengthOfRepeat(text, at))
  }
  return count
}

/** Of the longest piece that begins here and stands before it, too; 0 for a short one. */
function lengthOfRepeat(text: string, at: number): number {
  let length = LEAST_REPEATED
  if (at + length > text.length || !text.slice(0, at + length - 1).includes(text.slice(at, at + length))) return 0
  while (at + length < text.length && text.slice(0, at + length).includes(text.slice(at, at + length + 1))) length++
  return length
}

function follows(before: string | undefined, character: string): boolean {
  if (before === undefined) return false
  return before === character || RUNS.some(run => run.includes(before + character) || run.includes(character + before))
}

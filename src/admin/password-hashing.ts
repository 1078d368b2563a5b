/** Hashes passwords, and rejects new ones that are too short or too easy to guess. */
import { invalidRequestError } from '../errors/errors.ts'
import { limitConcurrency } from '../event-loop/limit-concurrency.ts'

/** The length of passwords in characters. */
export const PASSWORD_LENGTH = { minLength: 12, maxLength: 200 }

/** The minimum number of characters that do not follow from those before them. */
const MIN_UNPREDICTABLE = 8
const MIN_REPEATED = 3
/** Sequences in which a character follows from its neighbour, in either direction. */
const SEQUENCES = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']
/** Words that an attacker would guess, besides the user's address. */
const COMMON_WORDS = ['password', 'model proxy', 'modelproxy']

/** The number of concurrent hashes. Each takes 64 MiB, and most of a core for 0.1 seconds. */
const MAX_CONCURRENT_HASHES = 2
/** The maximum number of waiting hashes. They wait about five seconds. */
const MAX_WAITING = 100
export const limitHashing = limitConcurrency(MAX_CONCURRENT_HASHES, MAX_WAITING)

export function hashPassword(password: string): Promise<string> {
  return limitHashing(() => Bun.password.hash(password, { algorithm: 'argon2id' }))
}

/** Hashes a new password. Throws a 400 if it is too easy to guess; `field` is its name in the request. */
export function hashNewPassword(password: string, email: string, field = 'password'): Promise<string> {
  if (isWeakPassword(password, email)) throw invalidRequestError(EASY_TO_GUESS, field)
  return hashPassword(password)
}

const EASY_TO_GUESS =
  'This password is too easy to guess: it mostly consists of repetition, sequences, common words, or your e-mail address. Choose a few unrelated words.'

/** Returns true if a password has few characters besides the user's address, common words, repetition, and sequences such as `abc`. */
export function isWeakPassword(password: string, email: string): boolean {
  const address = email.trim().toLowerCase()
  const [name = '', domain = ''] = address.split('@')
  const known = [address, name, domain, domain.split('.')[0] ?? '', ...COMMON_WORDS].filter(
    word => word.length >= MIN_REPEATED,
  )
  const rest = known.reduce((text, word) => text.replaceAll(word, ' '), password.toLowerCase())
  return countUnpredictable(rest) < MIN_UNPREDICTABLE
}

function countUnpredictable(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; ) {
    if (!isPredictable(text[at - 1], text[at] ?? '')) count++
    at += Math.max(1, lengthOfRepeat(text, at))
  }
  return count
}

/** Returns the length of the longest piece at `at` that also occurs before it; 0 if it is short. */
function lengthOfRepeat(text: string, at: number): number {
  let length = MIN_REPEATED
  if (at + length > text.length || !text.slice(0, at + length - 1).includes(text.slice(at, at + length))) return 0
  while (at + length < text.length && text.slice(0, at + length).includes(text.slice(at, at + length + 1))) length++
  return length
}

function isPredictable(before: string | undefined, character: string): boolean {
  if (before === undefined) return false
  return (
    before === character || SEQUENCES.some(run => run.includes(before + character) || run.includes(character + before))
  )
}

/**
 * How a credential may be encoded: as it is, in hex, or in base64 at any alignment, and each of its characters escaped for JSON, for an
 * address or for HTML.
 */

/** No end yet: the bytes so far may be the beginning of a spelling. */
export const INCOMPLETE = -2
/** No spelling. */
export const NO_MATCH = -1

/** The credential, its hex, and what its base64 has in common whatever stands before and behind it: `Bearer …`, `user:…`. */
export function encodingsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].flatMap(before => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    // A character of base64 holds six bits: those at either end also hold bits of a neighbour.
    const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)]
    return (['base64', 'base64url'] as const).map(encoding => padded.toString(encoding).slice(first, end))
  })
  const inHex = bytes.toString('hex')
  return [...new Set([secret, inHex, inHex.toUpperCase(), ...inBase64])].map(text => Buffer.from(text))
}

/** JSON in a string of JSON doubles them. */
const MOST_BACKSLASHES = 15
/** Of an entity of HTML, with leading zeros. */
const MOST_ENTITY_DIGITS = 7
/** A character takes at most this many bytes: backslashes, and `u00` with two digits, which may be the `&` of an entity. */
export const MAX_ESCAPE_BYTES = MOST_BACKSLASHES + 5 + MOST_ENTITY_DIGITS + 3
/** What is written for an address twice has `%25` for `%`. */
const MOST_PERCENTS = 2
const BACKSLASH = 0x5c
const PERCENT = 0x25
const SLASH = 0x2f
const ZERO = 0x30
const LOWER_U = 0x75
const AMPERSAND = 0x26
const HASH = 0x23
const SEMICOLON = 0x3b
const LOWER_X = 0x78

/** With what an escape begins. */
export const ESCAPE_START_BYTES: readonly number[] = [BACKSLASH, PERCENT, AMPERSAND]
/** What an escape may hold. */
export const ESCAPE_BYTES: readonly number[] = [...ESCAPE_START_BYTES, ...Buffer.from('/u#xX;0123456789abcdefABCDEF')]

const ESCAPE_CODES = new Set(ESCAPE_BYTES)

/** Returns where a spelling that begins at `start` ends, OPEN or NONE. */
export function findEncodingEnd(bytes: Uint8Array, start: number, spelling: Uint8Array): number {
  let at = start
  for (const code of spelling) {
    if (at >= bytes.length) return INCOMPLETE
    const escaped = readEscape(bytes, at)
    if (escaped === INCOMPLETE) return INCOMPLETE
    if (escaped !== NO_MATCH && escapedByteOf(escaped) === code) at += lengthOf(escaped)
    else if (bytes[at] === code) at++
    else return NO_MATCH
  }
  return at
}

/** Whether there is a whole escape, of whatever character. Three searches for a byte where there is none. */
export function containsEscape(bytes: Uint8Array): boolean {
  return ESCAPE_START_BYTES.some(begin => {
    // raw text: it is escapes that are looked for.
    for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at + 1))
      if (readEscape(bytes, at) >= 0) return true
    return false
  })
}

/** Whether the text may end with an escape, or with a part of one. */
export function mayEndInEscape(text: string): boolean {
  const first = Math.max(0, text.length - MAX_ESCAPE_BYTES)
  for (let at = text.length - 1; at >= first; at--) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH || code === PERCENT || code === AMPERSAND) return true
    if (!ESCAPE_CODES.has(code)) return false
  }
  return false
}

/** Returns what an escape at this place stands for, to be asked with `escapedByteOf` and `lengthOf`; OPEN or NONE. */
export function readEscape(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === BACKSLASH) return readJson(bytes, at)
  if (byte === AMPERSAND) return readEntity(bytes, at, at + 1)
  return byte === PERCENT ? readUrl(bytes, at) : NO_MATCH
}

export const escapedByteOf = (escaped: number) => escaped & 255
const lengthOf = (escaped: number) => escaped >> 8
const stand = (code: number, length: number) => (length << 8) | code

/** `\u0073` or `\/`. */
function readJson(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === BACKSLASH && at - start < MOST_BACKSLASHES) at++
  if (at >= bytes.length) return INCOMPLETE
  if (bytes[at] === SLASH) return stand(SLASH, at + 1 - start)
  if (bytes[at] !== LOWER_U) return NO_MATCH
  for (const zero of [at + 1, at + 2]) {
    if (zero >= bytes.length) return INCOMPLETE
    if (bytes[zero] !== ZERO) return NO_MATCH
  }
  const code = readHex(bytes, at + 3)
  if (code < 0) return code
  const entity = code === AMPERSAND ? readEntity(bytes, start, at + 5) : NO_MATCH
  return entity === NO_MATCH ? stand(code, at + 5 - start) : entity
}

/** `&#115;` or `&#x73;`; `at` is behind the ampersand. */
function readEntity(bytes: Uint8Array, start: number, at: number): number {
  if (at >= bytes.length) return INCOMPLETE
  if (bytes[at] !== HASH) return NO_MATCH
  const isHex = ((bytes[at + 1] ?? 0) | 0x20) === LOWER_X
  const first = at + (isHex ? 2 : 1)
  let code = 0
  for (let digit = first; digit <= first + MOST_ENTITY_DIGITS; digit++) {
    if (digit >= bytes.length) return INCOMPLETE
    if (bytes[digit] === SEMICOLON) return digit > first && code < 256 ? stand(code, digit + 1 - start) : NO_MATCH
    const value = valueOfHex(bytes[digit])
    if (value < 0 || value >= (isHex ? 16 : 10)) return NO_MATCH
    code = code * (isHex ? 16 : 10) + value
  }
  return NO_MATCH
}

/** `%73`. */
function readUrl(bytes: Uint8Array, start: number): number {
  for (let at = start + 1, depth = 0; ; at += 2, depth++) {
    const code = readHex(bytes, at)
    if (code === NO_MATCH) return depth > 0 ? stand(PERCENT, at - start) : NO_MATCH
    if (code === INCOMPLETE) return INCOMPLETE
    if (code !== PERCENT || depth === MOST_PERCENTS) return stand(code, at + 2 - start)
  }
}

function readHex(bytes: Uint8Array, at: number): number {
  const high = at < bytes.length ? valueOfHex(bytes[at]) : 0
  const low = at + 1 < bytes.length ? valueOfHex(bytes[at + 1]) : 0
  if (high < 0 || low < 0) return NO_MATCH
  return at + 1 < bytes.length ? high * 16 + low : INCOMPLETE
}

function valueOfHex(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NO_MATCH
}

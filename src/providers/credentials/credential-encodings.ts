/**
 * Matches the encodings of a credential: plain text, hex, or base64 at any alignment. Each character may also be escaped for JSON, for a URL
 * or for HTML.
 */

/** The bytes so far may be the beginning of an encoding or an escape. */
export const INCOMPLETE = -2
/** The bytes are not an encoding or an escape. */
export const NO_MATCH = -1

/** Returns the credential, its hex, and the part of its base64 that does not depend on the text around it (`Bearer …`, `user:…`). */
export function encodingsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].flatMap(before => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    // A base64 character contains six bits. The characters at both ends also contain bits of neighbours.
    const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)]
    return (['base64', 'base64url'] as const).map(encoding => padded.toString(encoding).slice(first, end))
  })
  const inHex = bytes.toString('hex')
  return [...new Set([secret, inHex, inHex.toUpperCase(), ...inBase64])].map(text => Buffer.from(text))
}

/** The upper bound on backslashes of one escape. JSON within a JSON string doubles them. */
const MAX_BACKSLASHES = 15
/** The upper bound on digits of an HTML entity, with leading zeros. */
const MAX_ENTITY_DIGITS = 7
/** The upper bound on bytes of an escaped character: backslashes, and `u00` with two digits, which may be the `&` of an entity. */
export const MAX_ESCAPE_BYTES = MAX_BACKSLASHES + 5 + MAX_ENTITY_DIGITS + 3
/** The upper bound on repeated URL encoding, which writes `%25` for `%`. */
const MAX_PERCENTS = 2
const BACKSLASH = 0x5c
const PERCENT = 0x25
const SLASH = 0x2f
const ZERO = 0x30
const LOWER_U = 0x75
const AMPERSAND = 0x26
const HASH = 0x23
const SEMICOLON = 0x3b
const LOWER_X = 0x78

/** The first bytes of escapes. */
export const ESCAPE_START_BYTES: readonly number[] = [BACKSLASH, PERCENT, AMPERSAND]
/** The bytes that an escape may contain. */
export const ESCAPE_BYTES: readonly number[] = [...ESCAPE_START_BYTES, ...Buffer.from('/u#xX;0123456789abcdefABCDEF')]

const ESCAPE_CODES = new Set(ESCAPE_BYTES)

/** Returns the index after an encoding that begins at `start`, or INCOMPLETE or NO_MATCH. */
export function findEncodingEnd(bytes: Uint8Array, start: number, encoding: Uint8Array): number {
  let at = start
  for (const code of encoding) {
    if (at >= bytes.length) return INCOMPLETE
    const escaped = readEscape(bytes, at)
    if (escaped === INCOMPLETE) return INCOMPLETE
    if (escaped !== NO_MATCH && escapedByteOf(escaped) === code) at += lengthOf(escaped)
    else if (bytes[at] === code) at++
    else return NO_MATCH
  }
  return at
}

/** Returns whether the bytes contain a complete escape of any character. Without one, it searches for three bytes only. */
export function containsEscape(bytes: Uint8Array): boolean {
  return ESCAPE_START_BYTES.some(begin => {
    // raw text: it searches for escapes.
    for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at + 1))
      if (readEscape(bytes, at) >= 0) return true
    return false
  })
}

/** Returns whether the text may end with an escape, or with a part of one. */
export function mayEndInEscape(text: string): boolean {
  const first = Math.max(0, text.length - MAX_ESCAPE_BYTES)
  for (let at = text.length - 1; at >= first; at--) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH || code === PERCENT || code === AMPERSAND) return true
    if (!ESCAPE_CODES.has(code)) return false
  }
  return false
}

/** Reads an escape at `at`. Returns its byte and length for `escapedByteOf` and `lengthOf`, or INCOMPLETE or NO_MATCH. */
export function readEscape(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === BACKSLASH) return readJsonEscape(bytes, at)
  if (byte === AMPERSAND) return readEntity(bytes, at, at + 1)
  return byte === PERCENT ? readUrlEscape(bytes, at) : NO_MATCH
}

export const escapedByteOf = (escaped: number) => escaped & 255
const lengthOf = (escaped: number) => escaped >> 8
const packEscape = (code: number, length: number) => (length << 8) | code

/** Reads `\u0073` or `\/`. */
function readJsonEscape(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === BACKSLASH && at - start < MAX_BACKSLASHES) at++
  if (at >= bytes.length) return INCOMPLETE
  if (bytes[at] === SLASH) return packEscape(SLASH, at + 1 - start)
  if (bytes[at] !== LOWER_U) return NO_MATCH
  for (const zero of [at + 1, at + 2]) {
    if (zero >= bytes.length) return INCOMPLETE
    if (bytes[zero] !== ZERO) return NO_MATCH
  }
  const code = readHex(bytes, at + 3)
  if (code < 0) return code
  const entity = code === AMPERSAND ? readEntity(bytes, start, at + 5) : NO_MATCH
  return entity === NO_MATCH ? packEscape(code, at + 5 - start) : entity
}

/** Reads `&#115;` or `&#x73;`. `at` is the index after the ampersand. */
function readEntity(bytes: Uint8Array, start: number, at: number): number {
  if (at >= bytes.length) return INCOMPLETE
  if (bytes[at] !== HASH) return NO_MATCH
  const isHex = ((bytes[at + 1] ?? 0) | 0x20) === LOWER_X
  const first = at + (isHex ? 2 : 1)
  let code = 0
  for (let digit = first; digit <= first + MAX_ENTITY_DIGITS; digit++) {
    if (digit >= bytes.length) return INCOMPLETE
    if (bytes[digit] === SEMICOLON) return digit > first && code < 256 ? packEscape(code, digit + 1 - start) : NO_MATCH
    const value = valueOfHex(bytes[digit])
    if (value < 0 || value >= (isHex ? 16 : 10)) return NO_MATCH
    code = code * (isHex ? 16 : 10) + value
  }
  return NO_MATCH
}

/** Reads `%73`. */
function readUrlEscape(bytes: Uint8Array, start: number): number {
  for (let at = start + 1, depth = 0; ; at += 2, depth++) {
    const code = readHex(bytes, at)
    if (code === NO_MATCH) return depth > 0 ? packEscape(PERCENT, at - start) : NO_MATCH
    if (code === INCOMPLETE) return INCOMPLETE
    if (code !== PERCENT || depth === MAX_PERCENTS) return packEscape(code, at + 2 - start)
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

/**
 * Redacts the credentials of a call in its response, whatever its status and format. Some vendors quote a key that they reject, and the
 * aggregator's key is the operator's.
 */
import { concatBytes } from '../../formats/sse/split-events.ts'
import {
  containsEscape,
  ESCAPE_BYTES,
  ESCAPE_START_BYTES,
  encodingsOf,
  escapedByteOf,
  findEncodingEnd,
  INCOMPLETE,
  MAX_ESCAPE_BYTES,
  mayEndInEscape,
  readEscape,
} from './credential-encodings.ts'
import { type EncodingIndex, indexEncodings } from './encoding-index.ts'

const REDACTED = Buffer.from('[redacted]')
const EMPTY = new Uint8Array(0)
const NOT_FOUND = -1

/** Matches placeholders for servers without keys (`none`, `anything`, `1234`). They are not redacted, because any response may contain them. */
const PLACEHOLDER = /^(?:.{0,5}|[a-z]{0,15}|\d{0,15})$/i

/** Redacts credentials in the bytes of one response, which may be split anywhere. */
export interface CredentialRedactor {
  /** Whether a credential was found. */
  readonly hasFound: boolean
  /** Returns the bytes that can be forwarded: credentials are redacted, and an end that may be the beginning of one is held. */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the rest. */
  end(): Uint8Array
}

export class Credentials {
  /** The encodings by their first byte. */
  readonly #encodings = new Map<number, Buffer[]>()
  readonly #index: EncodingIndex
  /** By byte: whether an encoding may contain it, and whether one may begin with it. */
  readonly #isInside = new Uint8Array(256)
  readonly #isFirst = new Uint8Array(256)
  /** All pairs of adjacent bytes in the encodings. */
  readonly #pairs = new Set<number>()
  readonly #longest: number

  constructor(secrets: readonly string[]) {
    const encodings = secrets.filter(secret => !PLACEHOLDER.test(secret)).flatMap(encodingsOf)
    for (const encoding of encodings) {
      const first = encoding[0] as number
      this.#encodings.set(first, [...(this.#encodings.get(first) ?? []), encoding])
    }
    this.#index = indexEncodings(encodings)
    for (const byte of [...encodings.flatMap(each => [...each]), ...ESCAPE_BYTES]) this.#isInside[byte] = 1
    for (const byte of [...this.#encodings.keys(), ...ESCAPE_START_BYTES]) this.#isFirst[byte] = 1
    for (const encoding of encodings)
      for (let at = 1; at < encoding.length; at++) this.#pairs.add(encoding.readUInt16BE(at - 1))
    this.#longest = MAX_ESCAPE_BYTES * Math.max(0, ...encodings.map(({ length }) => length))
  }

  get isEmpty(): boolean {
    return this.#encodings.size === 0
  }

  /** Returns the text of a header, a message or a reason with credentials redacted. */
  redact(text: string): string {
    const bytes = Buffer.from(text)
    if (!this.#mayContain(bytes)) return text
    const filter = this.createRedactor()
    return Buffer.concat([filter.push(bytes), filter.end()]).toString()
  }

  /** Returns the end of the text that may be the beginning of a credential; empty when there is none, as the last two characters usually show. */
  openEndOf(text: string): string {
    const [before, last] = [text.charCodeAt(text.length - 2), text.charCodeAt(text.length - 1)]
    if (!this.#isFirst[last] && !this.#pairs.has(before * 256 + last) && !mayEndInEscape(text)) return ''
    const bytes = Buffer.from(text.slice(-this.#longest))
    const { openAt } = this.#read(bytes, this.#firstToRead(bytes), false)
    return openAt === NOT_FOUND ? '' : bytes.toString('utf8', openAt)
  }

  createRedactor(): CredentialRedactor {
    let held: Uint8Array = EMPTY
    let hasFound = false

    const redactBytes = (bytes: Uint8Array, isEnd: boolean): Uint8Array => {
      const from = this.#firstToRead(bytes)
      if (from >= bytes.length) return bytes
      const read = this.#read(bytes, from, isEnd)
      hasFound ||= read.hasFound
      // The bytes are copied, because the caller may reuse its buffer.
      held = read.openAt === NOT_FOUND ? EMPTY : bytes.slice(read.openAt)
      return read.safe
    }

    return {
      get hasFound() {
        return hasFound
      },
      push(bytes) {
        const all = held.length > 0 ? concatBytes([held, bytes]) : bytes
        held = EMPTY
        return redactBytes(all, false)
      },
      end() {
        const rest = held
        held = EMPTY
        return redactBytes(rest, true)
      },
    }
  }

  #mayContain(bytes: Uint8Array): boolean {
    return this.#encodings.size > 0 && (this.#index.occursIn(bytes) || containsEscape(bytes))
  }

  /** Returns the index from which the bytes must be read. When they contain no credential, only their end can be the beginning of one. */
  #firstToRead(bytes: Uint8Array): number {
    if (this.#mayContain(bytes)) return 0
    let from = bytes.length
    const earliest = Math.max(0, bytes.length - this.#longest)
    while (from > earliest && this.#isInside[bytes[from - 1] as number]) from--
    return from
  }

  #read(bytes: Uint8Array, from: number, isEnd: boolean) {
    const safe: Uint8Array[] = []
    let forwarded = 0
    let hasFound = false
    let openAt = NOT_FOUND
    for (let at = from; at < bytes.length; ) {
      const end = this.#isFirst[bytes[at] as number] ? this.#endOfLongest(bytes, at, isEnd) : NOT_FOUND
      if (end === INCOMPLETE) {
        openAt = at
        break
      }
      if (end <= at) {
        at++
        continue
      }
      hasFound = true
      safe.push(bytes.subarray(forwarded, at), REDACTED)
      forwarded = end
      at = end
    }
    safe.push(bytes.subarray(forwarded, openAt === NOT_FOUND ? bytes.length : openAt))
    return { safe: concatBytes(safe), openAt, hasFound }
  }

  /** Returns the end of the longest credential at `at`, because one may be the beginning of another; INCOMPLETE or NOT_FOUND otherwise. */
  #endOfLongest(bytes: Uint8Array, at: number, isEnd: boolean): number {
    const escaped = readEscape(bytes, at)
    if (escaped === INCOMPLETE && !isEnd) return INCOMPLETE
    const first = escaped < 0 ? (bytes[at] as number) : escapedByteOf(escaped)
    let longest = NOT_FOUND
    for (const encoding of this.#encodings.get(first) ?? []) {
      const end = findEncodingEnd(bytes, at, encoding)
      if (end === INCOMPLETE && !isEnd) return INCOMPLETE
      longest = Math.max(longest, end)
    }
    return longest
  }
}

/** Redacts credentials in a response's headers, in place. A header whose name contains one is removed. */
export function redactHeaders(headers: Headers, credentials: Credentials): void {
  const pairs = [...headers]
  // Usually no header contains a credential, so all are tested at once.
  const all = pairs.join('\n')
  if (credentials.redact(all) === all) return
  for (const [name, value] of pairs) {
    if (credentials.redact(name) !== name) headers.delete(name)
    else {
      const redacted = credentials.redact(value)
      if (redacted !== value) headers.set(name, redacted)
    }
  }
}

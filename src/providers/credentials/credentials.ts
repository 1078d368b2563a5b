/**
 * Takes the credentials that a call used out of all that comes back from it, whatever its status and its form: some vendors quote the key
 * that they refuse, and at the aggregator it is the operator's.
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
const NOTHING = new Uint8Array(0)
const NOWHERE = -1

/** Stands in settings where a server wants no key (`none`, `anything`, `1234`), and may stand in any answer. */
const NO_SECRET = /^(?:.{0,5}|[a-z]{0,15}|\d{0,15})$/i
/** Reads the bytes of one answer, wherever they are cut. */
export interface CredentialRedactor {
  /** Whether there was a credential. */
  readonly hasFound: boolean
  /** Returns what may cross now: without credentials, and without an end that may be the beginning of one. */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the rest. */
  end(): Uint8Array
}

export class Credentials {
  /** By the code that they begin with. */
  readonly #spellings = new Map<number, Buffer[]>()
  readonly #index: EncodingIndex
  /** By byte: whether a spelling may hold it, and may begin with it. */
  readonly #isInside = new Uint8Array(256)
  readonly #isFirst = new Uint8Array(256)
  /** All two bytes that stand beside each other in a spelling. */
  readonly #pairs = new Set<number>()
  readonly #longest: number

  constructor(secrets: readonly string[]) {
    const spellings = secrets.filter(secret => !NO_SECRET.test(secret)).flatMap(encodingsOf)
    for (const spelling of spellings) {
      const first = spelling[0] as number
      this.#spellings.set(first, [...(this.#spellings.get(first) ?? []), spelling])
    }
    this.#index = indexEncodings(spellings)
    for (const byte of [...spellings.flatMap(each => [...each]), ...ESCAPE_BYTES]) this.#isInside[byte] = 1
    for (const byte of [...this.#spellings.keys(), ...ESCAPE_START_BYTES]) this.#isFirst[byte] = 1
    for (const spelling of spellings)
      for (let at = 1; at < spelling.length; at++) this.#pairs.add(spelling.readUInt16BE(at - 1))
    this.#longest = MAX_ESCAPE_BYTES * Math.max(0, ...spellings.map(({ length }) => length))
  }

  get isEmpty(): boolean {
    return this.#spellings.size === 0
  }

  /** The same text without credentials: a header, a message, a reason. */
  redact(text: string): string {
    const bytes = Buffer.from(text)
    if (!this.#mayHold(bytes)) return text
    const filter = this.createRedactor()
    return Buffer.concat([filter.push(bytes), filter.end()]).toString()
  }

  /** Returns the end of the text that may be the beginning of one. Most often the last two characters say that there is none. */
  openEndOf(text: string): string {
    const [before, last] = [text.charCodeAt(text.length - 2), text.charCodeAt(text.length - 1)]
    if (!this.#isFirst[last] && !this.#pairs.has(before * 256 + last) && !mayEndInEscape(text)) return ''
    const bytes = Buffer.from(text.slice(-this.#longest))
    const { openAt } = this.#read(bytes, this.#firstToLookAt(bytes), false)
    return openAt === NOWHERE ? '' : bytes.toString('utf8', openAt)
  }

  createRedactor(): CredentialRedactor {
    let held: Uint8Array = NOTHING
    let hasFound = false

    const take = (bytes: Uint8Array, isEnd: boolean): Uint8Array => {
      const from = this.#firstToLookAt(bytes)
      if (from >= bytes.length) return bytes
      const read = this.#read(bytes, from, isEnd)
      hasFound ||= read.hasFound
      // Copied, because the caller may use its buffer again.
      held = read.openAt === NOWHERE ? NOTHING : bytes.slice(read.openAt)
      return read.safe
    }

    return {
      get hasFound() {
        return hasFound
      },
      push(bytes) {
        const all = held.length > 0 ? concatBytes([held, bytes]) : bytes
        held = NOTHING
        return take(all, false)
      },
      end() {
        const rest = held
        held = NOTHING
        return take(rest, true)
      },
    }
  }

  #mayHold(bytes: Uint8Array): boolean {
    return this.#spellings.size > 0 && (this.#index.occursIn(bytes) || containsEscape(bytes))
  }

  /** Where none can stand, only the end may begin one: from the last byte on that stands in none. */
  #firstToLookAt(bytes: Uint8Array): number {
    if (this.#mayHold(bytes)) return 0
    let from = bytes.length
    const least = Math.max(0, bytes.length - this.#longest)
    while (from > least && this.#isInside[bytes[from - 1] as number]) from--
    return from
  }

  #read(bytes: Uint8Array, from: number, isEnd: boolean) {
    const safe: Uint8Array[] = []
    let crossed = 0
    let hasFound = false
    let openAt = NOWHERE
    for (let at = from; at < bytes.length; ) {
      const end = this.#isFirst[bytes[at] as number] ? this.#endOfLongest(bytes, at, isEnd) : NOWHERE
      if (end === INCOMPLETE) {
        openAt = at
        break
      }
      if (end <= at) {
        at++
        continue
      }
      hasFound = true
      safe.push(bytes.subarray(crossed, at), REDACTED)
      crossed = end
      at = end
    }
    safe.push(bytes.subarray(crossed, openAt === NOWHERE ? bytes.length : openAt))
    return { safe: concatBytes(safe), openAt, hasFound }
  }

  /** One credential may be the beginning of another. */
  #endOfLongest(bytes: Uint8Array, at: number, isEnd: boolean): number {
    const escaped = readEscape(bytes, at)
    if (escaped === INCOMPLETE && !isEnd) return INCOMPLETE
    const first = escaped < 0 ? (bytes[at] as number) : escapedByteOf(escaped)
    let longest = NOWHERE
    for (const spelling of this.#spellings.get(first) ?? []) {
      const end = findEncodingEnd(bytes, at, spelling)
      if (end === INCOMPLETE && !isEnd) return INCOMPLETE
      longest = Math.max(longest, end)
    }
    return longest
  }
}

/** Takes them out of an answer’s headers, which change. */
export function redactHeaders(headers: Headers, credentials: Credentials): void {
  const pairs = [...headers]
  // Most often there is none in any of them.
  const all = pairs.join('\n')
  if (credentials.redact(all) === all) return
  for (const [name, value] of pairs) {
    if (credentials.redact(name) !== name) headers.delete(name)
    else {
      const hidden = credentials.redact(value)
      if (hidden !== value) headers.set(name, hidden)
    }
  }
}

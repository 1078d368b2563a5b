/** A vocabulary: the bytes of each token and the token of any bytes, in flat tables that are quick to fill and small to keep. */

const SPACE = 0x20
const LINE_END = 0x0a
const PADDING = 0x3d
/** Nothing is shorter than a token of one byte: four letters, a space, a digit and the line's end. */
const SHORTEST_LINE = 7

const SIX_BITS = new Uint8Array(256)
for (const [bits, letter] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  SIX_BITS[letter.charCodeAt(0)] = bits

export class Vocabulary {
  /** All tokens' bytes, one after the other. */
  readonly #bytes: Uint8Array
  /** Where each token's bytes begin, and the last one's end. */
  readonly #starts: Uint32Array
  /** Open addressing: a token's number and one, 0 where the place is free. */
  readonly #places: Uint32Array

  /** `file`: a line for each token, its bytes in base64 and its number, in the order of their numbers. */
  constructor(file: Uint8Array) {
    const { bytes, starts } = readTokens(file)
    this.#bytes = bytes
    this.#starts = starts
    this.#places = new Uint32Array(2 ** Math.ceil(Math.log2(2 * starts.length)))
    for (let token = 0; token + 1 < starts.length; token++) this.#place(token)
  }

  /** The token of `bytes` from `start` to `end`; -1 where there is none. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const places = this.#places
    const mask = places.length - 1
    for (let at = hash(bytes, start, end) & mask; ; at = (at + 1) & mask) {
      const token = (places[at] as number) - 1
      if (token < 0 || this.#is(token, bytes, start, end)) return token
    }
  }

  /** Undefined where there is no such token. */
  bytesOf(token: number): Uint8Array | undefined {
    const isKnown = Number.isInteger(token) && token >= 0 && token < this.#starts.length - 1
    return isKnown ? this.#bytes.subarray(this.#starts[token], this.#starts[token + 1]) : undefined
  }

  #place(token: number): void {
    const mask = this.#places.length - 1
    let at = hash(this.#bytes, this.#starts[token] as number, this.#starts[token + 1] as number) & mask
    while (this.#places[at] !== 0) at = (at + 1) & mask
    this.#places[at] = token + 1
  }

  #is(token: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[token] as number
    if ((this.#starts[token + 1] as number) - from !== end - start) return false
    for (let i = start; i < end; i++) if (this.#bytes[from + i - start] !== bytes[i]) return false
    return true
  }
}

function readTokens(file: Uint8Array) {
  const bytes = new Uint8Array(Math.ceil((file.length * 3) / 4))
  const starts = new Uint32Array(Math.ceil(file.length / SHORTEST_LINE) + 1)
  let tokens = 0
  let end = 0
  for (let at = 0; at < file.length; ) {
    for (; file[at] !== SPACE; at += 4) {
      const bits = (sixBits(file, at) << 18) | (sixBits(file, at + 1) << 12) | (sixBits(file, at + 2) << 6)
      const block = bits | sixBits(file, at + 3)
      bytes[end++] = block >> 16
      bytes[end++] = block >> 8
      bytes[end++] = block
    }
    if (file[at - 1] === PADDING) end--
    if (file[at - 2] === PADDING) end--
    while (at < file.length && file[at] !== LINE_END) at++
    at++
    starts[++tokens] = end
  }
  return { bytes: bytes.slice(0, end), starts: starts.slice(0, tokens + 1) }
}

function sixBits(file: Uint8Array, at: number): number {
  return SIX_BITS[file[at] as number] as number
}

/** FNV-1a, its upper half mixed into the lower one. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let mixed = 0x811c9dc5
  for (let i = start; i < end; i++) mixed = Math.imul(mixed ^ (bytes[i] as number), 0x01000193)
  return mixed ^ (mixed >>> 15)
}

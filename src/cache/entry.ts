/** A stored response, and its format in Redis: one line of JSON about it, then the body as the provider sent it. */

export interface CacheEntry {
  /** The plain (not streamed) JSON body. */
  body: Uint8Array
  provider: string
  /** Prompt and completion tokens as the provider counted them. */
  promptTokens: number
  completionTokens: number
  /** Milliseconds since the epoch. */
  createdAtMs: number
  expiresAtMs: number
}

/** What is known of a response without reading it. */
export type EntryFacts = Omit<CacheEntry, 'body'>

const FORM = 1
const LINE_FEED = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeEntry(entry: CacheEntry): Uint8Array {
  const about = [FORM, entry.provider, entry.promptTokens, entry.completionTokens, entry.createdAtMs, entry.expiresAtMs]
  const line = encoder.encode(`${JSON.stringify(about)}\n`)
  const bytes = new Uint8Array(line.length + entry.body.length)
  bytes.set(line)
  bytes.set(entry.body, line.length)
  return bytes
}

/** Returns null for bytes of another format: an older or newer version's entry is a miss, not an error. */
export function decodeEntry(bytes: Uint8Array): CacheEntry | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0) return null
  try {
    const about: unknown = JSON.parse(decoder.decode(bytes.subarray(0, end)))
    if (!Array.isArray(about) || about.length !== 6 || about[0] !== FORM) return null
    const [, provider, promptTokens, completionTokens, createdAtMs, expiresAtMs] = about
    return {
      body: bytes.subarray(end + 1),
      provider: String(provider),
      promptTokens: Number(promptTokens),
      completionTokens: Number(completionTokens),
      createdAtMs: Number(createdAtMs),
      expiresAtMs: Number(expiresAtMs),
    }
  } catch {
    return null
  }
}

/** Whole seconds since the response was stored. */
export function ageSeconds(entry: Pick<CacheEntry, 'createdAtMs'>, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - entry.createdAtMs) / 1000))
}

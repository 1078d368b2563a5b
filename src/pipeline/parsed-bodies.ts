/** Bodies that were answered from the cache lately, with all that was read from them: a repeat is not taken apart again. */
import { LRUCache } from 'lru-cache'
import type { Endpoint } from '../providers/upstream.ts'
import type { ParsedBody, RequestQuery } from './parse-request.ts'

/** What a body was parsed to takes some times as much memory as its text. */
const MOST_CHARS = 4 * 1_048_576
const LONGEST_CHARS = 16_384

export interface ParsedBodies {
  find(endpoint: Endpoint, text: string): ParsedBody | undefined
  /** To be called when one was answered from the cache: others are hardly ever sent again. */
  keep(query: RequestQuery): void
}

export function createParsedBodies(): ParsedBodies {
  const bodies = new LRUCache<string, ParsedBody>({
    maxSize: MOST_CHARS,
    sizeCalculation: (_, text) => Math.max(1, text.length),
  })

  return {
    find(endpoint, text) {
      if (text.length > LONGEST_CHARS) return undefined
      const parsed = bodies.get(text)
      return parsed?.endpoint === endpoint ? parsed : undefined
    },
    keep(query) {
      if (query.isLarge || query.text.length > LONGEST_CHARS) return
      if (bodies.peek(query.text)?.endpoint === query.endpoint) return
      bodies.set(query.text, freeze(pickParsed(query)))
    },
  }
}

/** Without what is one request's own: that would live as long. */
function pickParsed({ headers, control, ...parsed }: RequestQuery): ParsedBody {
  return parsed
}

/** Whoever changed what later requests are given would be told at once. */
function freeze<T>(value: T): T {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    Object.freeze(next)
    for (const part of Object.values(next)) waiting.push(part)
  }
  return value
}

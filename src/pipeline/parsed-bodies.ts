/** Remembers the parsed bodies of recent cache hits, so that a repeat is not parsed again. */
import { LRUCache } from 'lru-cache'
import type { Endpoint } from '../providers/upstream.ts'
import type { CompletionQuery, ParsedBody } from './query.ts'

/** A parsed body takes several times the memory of its text. */
const MOST_CHARS = 4 * 1_048_576
const LONGEST_CHARS = 16_384

export interface ParsedBodies {
  find(endpoint: Endpoint, text: string): ParsedBody | undefined
  /** Call it for a request answered from the cache: other bodies are rarely sent again. */
  keep(query: CompletionQuery): void
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

/** Leaves out what belongs to a single request, which would otherwise stay in memory as long. */
function pickParsed({ headers, control, ...parsed }: CompletionQuery): ParsedBody {
  return parsed
}

/** Frozen, because later requests share it: code that changed it throws at once. */
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

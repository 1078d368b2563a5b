/** What a client says its request is for: names and values, from X-Proxy-Tags and the body's `metadata`. */
import { LRUCache } from 'lru-cache'
import { invalidRequestError } from '../../errors/errors.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import type { RecordedQuery } from './query.ts'

const MOST_TAGS = 8
/** OpenAI takes no more. */
const MOST_METADATA = 16
const HEADER = 'X-Proxy-Tags'
const NAME = /^[A-Za-z][\w.-]{0,31}$/
/** Letters, digits and a few signs, with single spaces between them. */
const VALUE = /^(?=.{1,64}$)[\w.:/@+-]+(?: [\w.:/@+-]+)*$/

/**
 * Throws a 400 for a header that is not `name=value, …`. `metadata` belongs to the provider: of it, what is a name and a value is taken,
 * as far as there is room, and the rest is only passed on. Returns a JSON object with sorted names; null for none.
 */
export function readTags(
  headers: Headers,
  { body, endpoint }: Pick<RecordedQuery, 'body' | 'endpoint'>,
): string | null {
  const header = headers.get(HEADER)
  const { metadata } = body
  // Anthropic's field names the end user.
  const isTagged = endpoint !== 'messages' && isJsonObject(metadata)
  if (!isTagged) return (header && read.memo(header)) || null
  const tags = new Map(header === null ? [] : readHeader(header))
  const names = Object.keys(metadata)
  for (const name of names.length > MOST_METADATA ? [] : names.sort()) {
    const value = metadata[name]
    if (tags.size < MOST_TAGS && !tags.has(name) && isTag(name, value)) tags.set(name, value)
  }
  return write(tags) || null
}

/** Clients send the same few again and again. */
const read = new LRUCache<string, string>({
  max: 500,
  maxEntrySize: 2_000,
  sizeCalculation: (_, header) => header.length,
  memoMethod: header => write(new Map(readHeader(header))),
})

/** Returns '' for none. */
function write(tags: ReadonlyMap<string, string>): string {
  return tags.size === 0 ? '' : JSON.stringify(Object.fromEntries([...tags].sort(([a], [b]) => (a < b ? -1 : 1))))
}

function readHeader(header: string): [name: string, value: string][] {
  const tags = header.split(',').flatMap(tag => (tag.trim() === '' ? [] : [readTag(tag)]))
  if (tags.length > MOST_TAGS) throw invalidRequestError(`${HEADER} must have at most ${MOST_TAGS} tags.`, HEADER)
  if (new Set(tags.map(([name]) => name)).size < tags.length)
    throw invalidRequestError(`${HEADER} has two tags of the same name; keep one of them.`, HEADER)
  return tags
}

function readTag(tag: string): [name: string, value: string] {
  const [name = '', value] = tag.split(/=(.*)/s, 2).map(part => part.trim())
  if (isTag(name, value)) return [name, value]
  throw invalidRequestError(
    `${HEADER} must be name=value, …: names of at most 32 letters, digits, _ . and -, a letter first; values of at most 64 letters, digits, spaces and _ . : / @ + -.`,
    HEADER,
  )
}

function isTag(name: string, value: unknown): value is string {
  return NAME.test(name) && typeof value === 'string' && VALUE.test(value)
}

/** Reads the tags of a request, names and values, from X-Proxy-Tags and the body's `metadata`. */
import { LRUCache } from 'lru-cache'
import { invalidRequestError } from '../../errors/errors.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import type { RecordedQuery } from './query.ts'

const MAX_TAGS = 8
/** OpenAI's limit. */
const MAX_METADATA_FIELDS = 16
const HEADER = 'X-Proxy-Tags'
const NAME = /^[A-Za-z][\w.-]{0,31}$/
/** Letters, digits and a few signs, with single spaces between them. */
const VALUE = /^(?=.{1,64}$)[\w.:/@+-]+(?: [\w.:/@+-]+)*$/

/**
 * Returns a JSON object with sorted names; null if there are no tags. Throws a 400 for a header that is not `name=value, …`. `metadata` belongs
 * to the provider: its valid tags are used up to the limit, and all of it is forwarded.
 */
export function readTags(
  headers: Headers,
  { body, endpoint }: Pick<RecordedQuery, 'body' | 'endpoint'>,
): string | null {
  const header = headers.get(HEADER)
  const { metadata } = body
  // Anthropic's field names the end user.
  const hasMetadataTags = endpoint !== 'messages' && isJsonObject(metadata)
  if (!hasMetadataTags) return (header && headerCache.memo(header)) || null
  const tags = new Map(header === null ? [] : readHeader(header))
  const names = Object.keys(metadata)
  for (const name of names.length > MAX_METADATA_FIELDS ? [] : names.sort()) {
    const value = metadata[name]
    if (tags.size < MAX_TAGS && !tags.has(name) && isTag(name, value)) tags.set(name, value)
  }
  return serializeTags(tags) || null
}

/** Clients repeat the same few headers. */
const headerCache = new LRUCache<string, string>({
  max: 500,
  maxEntrySize: 2_000,
  sizeCalculation: (_, header) => header.length,
  memoMethod: header => serializeTags(new Map(readHeader(header))),
})

/** Returns '' if there are no tags. */
function serializeTags(tags: ReadonlyMap<string, string>): string {
  return tags.size === 0 ? '' : JSON.stringify(Object.fromEntries([...tags].sort(([a], [b]) => (a < b ? -1 : 1))))
}

function readHeader(header: string): [name: string, value: string][] {
  const tags = header.split(',').flatMap(tag => (tag.trim() === '' ? [] : [readTag(tag)]))
  if (tags.length > MAX_TAGS) throw invalidRequestError(`${HEADER} must have at most ${MAX_TAGS} tags.`, HEADER)
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

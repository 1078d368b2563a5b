/** What the client says about caching: Cache-Control after RFC 9111, and our own request headers. */
import { invalidRequest } from '../errors.ts'

export interface CacheControl {
  /** Look for a stored answer. */
  lookup: boolean
  /** Store the answer. */
  store: boolean
  /** A stored answer may be no older; null: any age. */
  maxAgeSeconds: number | null
  /** Answer from the cache or not at all. */
  onlyIfCached: boolean
  /** How long the answer may be stored; null: as the project's setting has it. */
  ttlSeconds: number | null
  /** Similarity that a semantic match must exceed; null: as the project's setting has it. */
  threshold: number | null
  namespace: string
}

/**
 * How long the answer to such a request is kept, wherever it is kept; 0: not at all. What the client asks for shortens or lengthens
 * the project's own time within what its plan allows, and turns nothing on that the project has turned off.
 */
export function keptForSeconds(
  { store, ttlSeconds }: CacheControl,
  account: { cache_ttl_seconds: number; max_cache_ttl_seconds: number },
): number {
  if (!store || account.cache_ttl_seconds <= 0) return 0
  return Math.min(ttlSeconds ?? account.cache_ttl_seconds, account.max_cache_ttl_seconds)
}

const MAX_SECONDS = 315_360_000
const MAX_NAMESPACE_LENGTH = 256

/** Throws a 400 that names the header where a value is bad. */
export function readCacheControl(headers: Headers): CacheControl {
  const directives = readDirectives(headers.get('cache-control'))
  const noStore = directives.has('no-store')
  const maxAge = directives.get('max-age')
  const ttl = headers.get('x-proxy-cache-ttl')
  const threshold = headers.get('x-proxy-cache-threshold')
  return {
    lookup: !noStore && !directives.has('no-cache'),
    store: !noStore,
    maxAgeSeconds: maxAge === undefined ? null : readSeconds('Cache-Control', maxAge, 'max-age must be'),
    onlyIfCached: directives.has('only-if-cached'),
    ttlSeconds: ttl === null ? null : readSeconds('X-Proxy-Cache-TTL', ttl, 'must be'),
    threshold: threshold === null ? null : readThreshold(threshold),
    namespace: readNamespace(headers.get('x-proxy-cache-namespace')),
  }
}

function readDirectives(header: string | null): Map<string, string> {
  const directives = new Map<string, string>()
  for (const directive of header?.split(',') ?? []) {
    const [name = '', value = ''] = directive.split('=', 2)
    if (name.trim() !== '') directives.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'))
  }
  return directives
}

function readSeconds(header: string, value: string, must: string): number {
  const seconds = Number(value)
  if (/^\d{1,9}$/.test(value) && seconds <= MAX_SECONDS) return seconds
  throw invalidRequest(`${header}: ${must} whole seconds from 0 to ${MAX_SECONDS}.`, header)
}

function readThreshold(value: string): number {
  const threshold = Number(value)
  if (/^[01](\.\d{1,10})?$/.test(value.trim()) && threshold <= 1) return threshold
  throw invalidRequest('X-Proxy-Cache-Threshold: must be a number from 0.0 to 1.0.', 'X-Proxy-Cache-Threshold')
}

function readNamespace(value: string | null): string {
  const namespace = value?.trim() ?? ''
  if (namespace.length <= MAX_NAMESPACE_LENGTH && /^[\x20-\x7e]*$/.test(namespace)) return namespace
  throw invalidRequest(
    `X-Proxy-Cache-Namespace: must be at most ${MAX_NAMESPACE_LENGTH} printable ASCII characters.`,
    'X-Proxy-Cache-Namespace',
  )
}

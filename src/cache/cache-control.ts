/** What the client says about caching: Cache-Control (RFC 9111), and the proxy's own request headers. */
import { invalidRequestError } from '../errors/errors.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'

export interface CacheControl {
  /** Whether a stored response may answer the request. */
  lookup: boolean
  /** Whether the response may be stored. */
  store: boolean
  /** Maximum age of a stored response; null for any age. */
  maxAgeSeconds: number | null
  /** Answer from the cache or fail. */
  onlyIfCached: boolean
  /** Lifetime of the stored response; null for the project's setting. */
  ttlSeconds: number | null
  /** Similarity that a semantic match must exceed, as far as it is above the project's setting; null for that. */
  threshold: number | null
  namespace: string
  /** See `sharingScope`. */
  sharingScope: string
}

/**
 * How long the response to such a request is stored, in the cache or elsewhere; 0 for not at all. The client may change the project's
 * lifetime within its plan's limits, and cannot turn on what the project turned off.
 */
export function computeTtlSeconds(
  { store, ttlSeconds }: CacheControl,
  account: { cache_ttl_seconds: number; max_cache_ttl_seconds: number },
): number {
  if (!store || account.cache_ttl_seconds <= 0) return 0
  return Math.min(ttlSeconds ?? account.cache_ttl_seconds, account.max_cache_ttl_seconds)
}

/** Whether the client may refuse what others are served. Its answer would then take the place of theirs. */
export function isRefreshRequest({ lookup, maxAgeSeconds }: CacheControl): boolean {
  return !lookup || maxAgeSeconds !== null
}

const MAX_SECONDS = 315_360_000
const MAX_NAMESPACE_LENGTH = 256

/** Throws a 400 that names the header with a bad value. */
export function readCacheControl(headers: Headers): CacheControl {
  const directives = readDirectives(headers.get('cache-control'))
  const noStore = directives.has('no-store')
  const maxAge = directives.get('max-age')
  const ttl = headers.get('x-proxy-cache-ttl')
  const threshold = headers.get('x-proxy-cache-threshold')
  const namespace = readNamespace(headers.get('x-proxy-cache-namespace'))
  return {
    lookup: !noStore && !directives.has('no-cache'),
    store: !noStore,
    maxAgeSeconds: maxAge === undefined ? null : readSeconds('Cache-Control', maxAge, 'max-age must be'),
    onlyIfCached: directives.has('only-if-cached'),
    ttlSeconds: ttl === null ? null : readSeconds('X-Proxy-Cache-TTL', ttl, 'must be'),
    threshold: threshold === null ? null : readThreshold(threshold),
    namespace,
    // Until the account is known.
    sharingScope: '',
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
  throw invalidRequestError(`${header}: ${must} whole seconds from 0 to ${MAX_SECONDS}.`, header)
}

function readThreshold(value: string): number {
  const threshold = Number(value)
  if (/^[01](\.\d{1,10})?$/.test(value.trim()) && threshold <= 1) return threshold
  throw invalidRequestError('X-Proxy-Cache-Threshold: must be a number from 0.0 to 1.0.', 'X-Proxy-Cache-Threshold')
}

function readNamespace(value: string | null): string {
  const namespace = value?.trim() ?? ''
  if (namespace.length <= MAX_NAMESPACE_LENGTH && /^[\x20-\x7e]*$/.test(namespace)) return namespace
  throw invalidRequestError(
    `X-Proxy-Cache-Namespace: must be at most ${MAX_NAMESPACE_LENGTH} printable ASCII characters.`,
    'X-Proxy-Cache-Namespace',
  )
}

/**
 * all: a repeat is answered from the cache, however it is sampled. deterministic: only if the request asks for the same response each
 * time, with temperature 0 or a seed. off: never. Identical requests in flight share a call under the same rule.
 */
export type CacheMode = ResolvedKey['cache_mode']

/** `body` is that of an operation that samples. Embeddings are the same each time: only `off` concerns them. */
export function isCacheableInMode(body: JsonObject, mode: CacheMode): boolean {
  if (mode !== 'deterministic') return mode === 'all'
  return body.temperature === 0 || Number.isInteger(body.seed)
}

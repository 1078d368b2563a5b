/** Parses the client's caching directives: Cache-Control (RFC 9111) and the X-Proxy-Cache-* request headers. */
import { invalidRequestError } from '../errors/errors.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'

export interface CacheControl {
  /** True when a cached response may be served. */
  lookup: boolean
  /** True when the response may be stored. */
  store: boolean
  /** Maximum age of a cached response; null for any age. */
  maxAgeSeconds: number | null
  /** True to serve a cached response or fail. */
  onlyIfCached: boolean
  /** Lifetime of the cached response; null for the project's setting. */
  ttlSeconds: number | null
  /** Similarity that a semantic match must exceed, if above the project's setting. Null uses the project's setting. */
  threshold: number | null
  namespace: string
  /** The version of a name, `name@version`, of which only the newest is stored and served; '' for none. */
  version: string
  /** True if a newer version of the name is known. Set when the request is admitted. */
  isOldVersion: boolean
  /** From `sharingScope` of cache-scope.ts. */
  sharingScope: string
}

/**
 * Returns the time to live of the response in seconds; 0 means “do not store”. The client may change the
 * project's lifetime within the plan's limits, and cannot enable caching that the project disabled.
 */
export function computeTtlSeconds(
  { store, ttlSeconds }: CacheControl,
  resolvedKey: { cache_ttl_seconds: number; max_cache_ttl_seconds: number },
): number {
  if (!store || resolvedKey.cache_ttl_seconds <= 0) return 0
  return Math.min(ttlSeconds ?? resolvedKey.cache_ttl_seconds, resolvedKey.max_cache_ttl_seconds)
}

/** Returns whether the request bypasses cached responses, so that its response replaces the one served to others. */
export function isRefreshRequest({ lookup, maxAgeSeconds }: CacheControl): boolean {
  return !lookup || maxAgeSeconds !== null
}

const MAX_SECONDS = 315_360_000
const MAX_NAMESPACE_LENGTH = 256
const MAX_VERSION_LENGTH = 256

/** Reads the directives. Throws a 400 that names a header with an invalid value. */
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
    version: readVersion(headers.get('x-proxy-cache-version')),
    isOldVersion: false,
    // The scope is set when the key is resolved.
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

function readSeconds(header: string, value: string, requirement: string): number {
  const seconds = Number(value)
  if (/^\d{1,9}$/.test(value) && seconds <= MAX_SECONDS) return seconds
  throw invalidRequestError(`${header}: ${requirement} whole seconds from 0 to ${MAX_SECONDS}.`, header)
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

/** A name and its version: printable ASCII without spaces, commas and further @. */
const VERSION = /^[\x21-\x2b\x2d-\x3f\x41-\x7e]+@[\x21-\x2b\x2d-\x3f\x41-\x7e]+$/

function readVersion(value: string | null): string {
  if (value === null) return ''
  const version = value.trim()
  if (version.length <= MAX_VERSION_LENGTH && VERSION.test(version)) return version
  throw invalidRequestError(
    `X-Proxy-Cache-Version: must be one name@version, such as docs@42, of at most ${MAX_VERSION_LENGTH} printable ASCII characters without spaces and commas.`,
    'X-Proxy-Cache-Version',
  )
}

/**
 * `all` caches every request. `deterministic` caches only requests with temperature 0 or a seed. `off` caches none. Identical requests in
 * flight share a call under the same rule.
 */
export type CacheMode = ResolvedKey['cache_mode']

/** Returns whether the mode caches a request that samples. Embeddings are deterministic, so that only `off` excludes them. */
export function isCacheableInMode(body: JsonObject, mode: CacheMode): boolean {
  if (mode !== 'deterministic') return mode === 'all'
  return body.temperature === 0 || Number.isInteger(body.seed)
}

/** The response cache. It looks responses up exactly, by equal normalized text, then by similarity, and stores complete responses. */
import { msSince, nowMs } from '../event-loop/clock.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { MAX_STORED_BYTES } from '../formats/text-meter.ts'
import { deleteEntry, recordEntryPolicy } from '../postgres/store-cached-responses.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import { computeTtlSeconds } from './cache-control.ts'
import { type CacheQuery, isUserScoped } from './cache-query.ts'
import {
  type CachedResponseMatch,
  type CacheEntry,
  decodeAliasedEntry,
  decodeExactMatch,
  entryAgeSeconds,
  entryHashOf,
  isAlias,
} from './entry.ts'
import { createExactEntries, type ExactEntries } from './exact-entries.ts'
import { createCacheLookup, type LookupOptions, type LookupResult } from './lookup.ts'
import { isJudgedInline, matchSettingsKey } from './policy.ts'
import type { PendingVector, PromptEmbedder, PromptVector } from './prompt-embedder.ts'
import { type CompleteResponse, createResponseWriter } from './response-writer.ts'

/** Longest time a finished response is delayed so that an immediate repeat finds it. */
const STORE_TIME_LIMIT_MS = 250

export interface Cache {
  /** Returns the match in the bytes that admission read; null when it may not be served. */
  readExact(bytes: Uint8Array | null, query: CacheQuery): CachedResponseMatch | null
  /** Reads an exact entry by its key. Null when there is none or the fast store is unavailable. */
  readEntry(exactKey: string | null): Promise<Uint8Array | null>
  /** Reads an entry that this process may have stored since the request was admitted. Returns null at once when it stored none. */
  readRecentEntry(exactKey: string): Promise<Uint8Array | null> | null
  /** Starts the first search of `lookUp`, if the lookup is free. It changes nothing, so that its result may be discarded. */
  prefetch(query: CacheQuery): void
  /** Returns whether `lookUp` needs neither a paid vector nor a judge. */
  isLookupFree(query: CacheQuery): boolean
  /** Looks the request up in PostgreSQL: exactly, by normalized text, then by similarity. Never rejects: a failed lookup is a miss. */
  lookUp(query: CacheQuery): Promise<LookupResult>
  /** Stores the response. Resolves when an immediate repeat would find or wait for it, or after a short time limit. Never rejects. */
  store(query: CacheQuery, response: CompleteResponse, vector: PromptVector | null): Promise<void>
  /** Records the hook's policy version under which the entry was accepted. Never throws. */
  updateEntryPolicy(query: CacheQuery, match: CachedResponseMatch): void
  /** Deletes the entry. Never rejects. */
  deleteEntry(query: CacheQuery, match: CachedResponseMatch): Promise<void>
  /** Resolves when everything stored so far is in PostgreSQL. */
  flush(): Promise<void>
}

export interface CacheOptions extends Omit<LookupOptions, 'copies'> {
  store: FastStore
  /** Returns true when no other process uses this cache, so that responses sent to the stores count as stored. */
  isOnlyProcess(): boolean
  log: Log
}

export function createCache(options: CacheOptions): Cache {
  const { database, store, vectors, judge, judgeQueue, unfinished, isOnlyProcess, seal, log } = options
  const copies = createExactEntries(store, seal)
  const lookups = createCacheLookup({ ...options, copies })
  const writer = createResponseWriter(database, seal, log)

  const report = (error: unknown) =>
    log.failures.report('store', error, 'a cache entry could not be changed', { part: 'change' })
  const isLookupFree = (query: CacheQuery) =>
    (vectors.isFree || !needsVector(query)) && !isJudgedInline(query.resolvedKey)

  return {
    readExact(bytes, query) {
      const match = bytes && readCopy(bytes, query, seal)
      if (match?.result === 'HIT-SEMANTIC') judgeQueue.sampleServed(query, match)
      return match
    },
    readEntry: copies.find,
    readRecentEntry: copies.findRecent,
    prefetch(query) {
      if (isLookupFree(query)) lookups.prefetch(query)
    },
    isLookupFree,

    async lookUp(query) {
      const startedAtMs = performance.now()
      const lookup = await lookups.lookUp(query).then(
        result => {
          log.failures.recover('lookup')
          return result
        },
        (error): LookupResult => {
          log.failures.report('lookup', error, 'a cache lookup failed; treated as a miss')
          return { match: null, missReason: 'no-candidate', vector: null }
        },
      )
      lookup.durationMs = msSince(startedAtMs)
      return lookup
    },

    async store(query, response, vector) {
      const ttlSeconds = computeTtlSeconds(query.control, query.resolvedKey)
      if (ttlSeconds <= 0 || response.body.length > MAX_STORED_BYTES) return
      const createdAtMs = nowMs()
      const expiresAtMs = createdAtMs + ttlSeconds * 1000
      const copied = writeCopy(copies, query, { ...response, createdAtMs, expiresAtMs })
      const written = writer.write(query, response, findVector(vectors, query, response, vector), ttlSeconds)
      const returnsEarly = isOnlyProcess() && canReturnEarly(query, response) && !writer.isBacklogged()
      if (returnsEarly || written.vectorStored !== written.stored) unfinished.add(query, written)
      if (returnsEarly) return
      const findable = copied.then(isCopied => {
        if (!isCopied || writer.isBacklogged() || !canBeWrittenLater(query, response)) return written.stored
      })
      await withTimeout(STORE_TIME_LIMIT_MS, findable).catch(() => {})
    },

    updateEntryPolicy(query, match) {
      copies.replace(query, match)
      void recordEntryPolicy(database, { ...entryOf(query, match), ...match.entry }).catch(report)
    },

    async deleteEntry(query, match) {
      await Promise.all([copies.delete(query, match), deleteEntry(database, entryOf(query, match))]).catch(report)
    },

    async flush() {
      await Promise.all([writer.flush(), judge.flush(), judgeQueue.flush()])
    },
  }
}

/**
 * Copies a response to the fast store. One under a version is copied when it is found: that version may have been superseded during the call,
 * and PostgreSQL then rejects the response.
 */
function writeCopy(copies: ExactEntries, query: CacheQuery, entry: CacheEntry): Promise<boolean> {
  return query.identity.version === '' ? copies.write(query, entry) : Promise.resolve(false)
}

function entryOf({ resolvedKey, requestHash }: CacheQuery, match: CachedResponseMatch) {
  return { projectId: resolvedKey.project_id, requestHash: entryHashOf(requestHash, match) }
}

/** Returns whether the client need not wait for the write. It has not received any of the response, and cannot have it deleted by id. */
function canReturnEarly({ identity }: CacheQuery, { isStreamed }: CompleteResponse): boolean {
  return !isStreamed && identity.endpoint !== 'responses'
}

/**
 * Returns whether the exact copy is enough for a repeat, because no other wording matches the response and no client can have it deleted by
 * id, which needs PostgreSQL.
 */
function canBeWrittenLater(query: CacheQuery, { isSemantic }: CompleteResponse): boolean {
  return query.identity.endpoint !== 'responses' && (!isSemantic || typeof query.semantic() === 'string')
}

function needsVector(query: CacheQuery): boolean {
  const semantic = query.semantic()
  return typeof semantic !== 'string' && semantic.needsVector
}

/** Returns the vector to store with the response. Requests it now if the lookup had none. */
function findVector(
  vectors: PromptEmbedder,
  query: CacheQuery,
  response: CompleteResponse,
  known: PromptVector | null,
): PromptVector | PendingVector | null {
  const semantic = response.isSemantic ? query.semantic() : 'tools'
  if (typeof semantic === 'string' || !semantic.needsVector) return null
  if (known) return known
  if (vectors.isFree) return vectors.make(semantic.normalizedPrompt)
  return { spaceId: vectors.spaceId, ready: vectors.findLater(query, semantic.normalizedPrompt.normalized) }
}

/** Decodes and opens the bytes under a request's exact key. Null when the match is too old or not similar enough for the request. */
function readCopy(bytes: Uint8Array, query: CacheQuery, seal: ContentSeal): CachedResponseMatch | null {
  const match = decodeServable(bytes, query)
  const body = match && seal.open(match.entry.body, query.resolvedKey.project_id)
  if (!body || body === match.entry.body) return body && match
  return { ...match, entry: { ...match.entry, body } }
}

function decodeServable(bytes: Uint8Array, query: CacheQuery): CachedResponseMatch | null {
  const { resolvedKey, control, requestHash } = query
  const match = isAlias(bytes)
    ? decodeAliasedEntry(bytes, matchSettingsKey(resolvedKey))
    : decodeExactMatch(bytes, requestHash)
  const now = nowMs()
  if (!match || match.entry.expiresAtMs <= now) return null
  if (control.maxAgeSeconds !== null && entryAgeSeconds(match.entry, now) > control.maxAgeSeconds) return null
  if (match.result === 'HIT') return match
  // An alias is stored under the whole request, which does not separate end users.
  if (isUserScoped(query)) return null
  const minimum = match.reason === 'judged' ? -1 : resolvedKey.semantic_threshold
  return match.similarity > (control.threshold ?? minimum) ? match : null
}

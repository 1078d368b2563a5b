/** Stored responses: looked up exactly, by equal normalized text, then by meaning; stored when complete. */
import { msSince, nowMs } from '../event-loop/clock.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { MAX_STORED_BYTES } from '../formats/text-meter.ts'
import { deleteEntry, recordEntryPolicy } from '../postgres/entry-policies.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import { computeTtlSeconds } from './cache-control.ts'
import { type CacheQuery, isUserScoped } from './cache-query.ts'
import {
  type CachedResponseMatch,
  decodeAliasedEntry,
  decodeExactMatch,
  entryAgeSeconds,
  entryHashOf,
  isAlias,
} from './entry.ts'
import { createExactEntries } from './exact-entries.ts'
import { createCacheLookup, type LookupOptions, type LookupResult } from './lookup.ts'
import { isJudgedInline, matchSettingsKey } from './policy.ts'
import type { PendingVector, PromptEmbedder, PromptVector } from './prompt-embedder.ts'
import { type CompleteResponse, createResponseWriter } from './response-writer.ts'

/** Longest time a finished response is held back so that an immediate repeat finds it. */
const STORE_TIME_LIMIT_MS = 250

export interface Cache {
  /** The entry that admission read, if it may be served. */
  readExact(bytes: Uint8Array | null, query: CacheQuery): CachedResponseMatch | null
  /** Reads an exact entry by its key; null when there is none or the fast store is out of reach. */
  readEntry(exactKey: string | null): Promise<Uint8Array | null>
  /** Reads an entry that this process may have stored since the request was admitted; null at once where it stored none. */
  readRecentEntry(exactKey: string): Promise<Uint8Array | null> | null
  /** Begins what `find` asks first, if it is free. It changes nothing, so that it may be for nothing. */
  prefetch(query: CacheQuery): void
  /** Whether `find` is free: it needs neither a paid vector nor a judge. */
  isLookupFree(query: CacheQuery): boolean
  /** Looks in PostgreSQL: exactly, then by normalized text, then by similarity. Never throws: a failed lookup is a miss. */
  lookUp(query: CacheQuery): Promise<LookupResult>
  /** Resolves when an immediate repeat would find it, or wait for it, or after a short time limit. Never throws. */
  store(query: CacheQuery, response: CompleteResponse, vector: PromptVector | null): Promise<void>
  /** The entry has passed the hook under other rules, which it names. Never throws. */
  updateEntryPolicy(query: CacheQuery, match: CachedResponseMatch): void
  /** Deletes the entry. Never throws. */
  deleteEntry(query: CacheQuery, match: CachedResponseMatch): Promise<void>
  /** Resolves when everything stored so far has reached PostgreSQL. */
  flush(): Promise<void>
}

export interface CacheOptions extends Omit<LookupOptions, 'copies'> {
  store: FastStore
  /** Whether no other process serves from this cache, so that what this one has sent to the stores counts as stored. */
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
  const findsForFree = (query: CacheQuery) =>
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
      if (findsForFree(query)) lookups.prefetch(query)
    },
    isLookupFree: findsForFree,

    async lookUp(query) {
      const startedAtMs = performance.now()
      const lookup = await lookups.lookUp(query).then(
        found => {
          log.failures.recover('lookup')
          return found
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
      const copied = copies.write(query, { ...response, createdAtMs, expiresAtMs })
      const written = writer.write(query, response, findVector(vectors, query, response, vector), ttlSeconds)
      const leavesEarly = isOnlyProcess() && mayLeaveEarly(query, response) && !writer.isBacklogged()
      if (leavesEarly || written.vectorStored !== written.stored) unfinished.add(query, written)
      if (leavesEarly) return
      const findable = copied.then(isCopied => {
        if (!isCopied || writer.isBacklogged() || !mayBeWrittenLater(query, response)) return written.stored
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

function entryOf({ resolvedKey, requestHash }: CacheQuery, match: CachedResponseMatch) {
  return { projectId: resolvedKey.project_id, requestHash: entryHashOf(requestHash, match) }
}

/** Whether its client need not wait for it to be stored: it has nothing of it yet, and can have nothing deleted. */
function mayLeaveEarly({ identity }: CacheQuery, { isStreamed }: CompleteResponse): boolean {
  return !isStreamed && identity.endpoint !== 'responses'
}

/**
 * Whether a repeat finds the response by its copy alone: no other words find it; and no client can have it deleted, for which PostgreSQL would
 * have to know it.
 */
function mayBeWrittenLater(query: CacheQuery, { isSemantic }: CompleteResponse): boolean {
  return query.identity.endpoint !== 'responses' && (!isSemantic || typeof query.semantic() === 'string')
}

function needsVector(query: CacheQuery): boolean {
  const semantic = query.semantic()
  return typeof semantic !== 'string' && semantic.needsVector
}

/** The vector to store the response under; asked for now if the lookup had none. */
function findVector(
  vectors: PromptEmbedder,
  query: CacheQuery,
  response: CompleteResponse,
  made: PromptVector | null,
): PromptVector | PendingVector | null {
  const semantic = response.isSemantic ? query.semantic() : 'tools'
  if (typeof semantic === 'string' || !semantic.needsVector) return null
  if (made) return made
  if (vectors.isFree) return vectors.make(semantic.normalizedPrompt)
  return { spaceId: vectors.spaceId, ready: vectors.findLater(query, semantic.normalizedPrompt.normalized) }
}

/** Reads the bytes under a request's exact key as a match; null when it is too old or not similar enough for the request. */
function readCopy(bytes: Uint8Array, query: CacheQuery, seal: ContentSeal): CachedResponseMatch | null {
  const match = readFitting(bytes, query)
  const body = match && seal.open(match.entry.body, query.resolvedKey.project_id)
  if (!body || body === match.entry.body) return body && match
  return { ...match, entry: { ...match.entry, body } }
}

function readFitting(bytes: Uint8Array, query: CacheQuery): CachedResponseMatch | null {
  const { resolvedKey, control, requestHash } = query
  const match = isAlias(bytes)
    ? decodeAliasedEntry(bytes, matchSettingsKey(resolvedKey))
    : decodeExactMatch(bytes, requestHash)
  const now = nowMs()
  if (!match || match.entry.expiresAtMs <= now) return null
  if (control.maxAgeSeconds !== null && entryAgeSeconds(match.entry, now) > control.maxAgeSeconds) return null
  if (match.result === 'HIT') return match
  // An alias is found under the whole request, which names no user.
  if (isUserScoped(query)) return null
  const least = match.reason === 'judged' ? -1 : resolvedKey.semantic_threshold
  return match.similarity > (control.threshold ?? least) ? match : null
}

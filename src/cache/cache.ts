/** Stored responses: looked up exactly, by equal normalized text, then by meaning; stored when complete. */
import { msSince, nowMs } from '../event-loop/clock.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { MOST_STORED_BYTES } from '../formats/text-meter.ts'
import { deleteEntry, stampEntry } from '../postgres/checked-entries.ts'
import type { AnswerSeal } from '../stores/answer-seal.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import { keptForSeconds } from './cache-control.ts'
import { type CacheQuery, isAskersOwn } from './cache-query.ts'
import { ageSeconds, decodeAliasedEntry, entryHashOf, isAlias, type Match, readStored } from './entry.ts'
import { createExactCopies } from './exact-copies.ts'
import { createLookups, type Lookup, type LookupOptions } from './lookup.ts'
import { asksJudge, matchSettings } from './policy.ts'
import type { LateVector, PromptVector, PromptVectors } from './prompt-vectors.ts'
import { createResponseWriter, type NewResponse } from './response-writer.ts'

/** Longest time a finished response is held back so that an immediate repeat finds it. */
const STORE_TIME_LIMIT_MS = 250

export interface Cache {
  /** The entry that admission read, if it may be served. */
  readExact(bytes: Uint8Array | null, query: CacheQuery): Match | null
  /** Reads an exact entry by its key; null when there is none or the fast store is out of reach. */
  readEntry(exactKey: string | null): Promise<Uint8Array | null>
  /** Reads an entry that this process may have stored since the request was admitted; null at once where it stored none. */
  readLateEntry(exactKey: string): Promise<Uint8Array | null> | null
  /** Begins what `find` asks first, if it is free. It changes nothing, so that it may be for nothing. */
  beginFinding(query: CacheQuery): void
  /** Whether `find` is free: it needs neither a paid vector nor a judge. */
  findsForFree(query: CacheQuery): boolean
  /** Looks in PostgreSQL: exactly, then by normalized text, then by similarity. Never throws: a failed lookup is a miss. */
  find(query: CacheQuery): Promise<Lookup>
  /** Resolves when an immediate repeat would find it, or wait for it, or after a short time limit. Never throws. */
  store(query: CacheQuery, response: NewResponse, vector: PromptVector | null): Promise<void>
  /** The entry has passed the hook under other rules, which it names. Never throws. */
  restamp(query: CacheQuery, match: Match): void
  /** Deletes the entry. Never throws. */
  discard(query: CacheQuery, match: Match): Promise<void>
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
  const copies = createExactCopies(store, seal)
  const lookups = createLookups({ ...options, copies })
  const writer = createResponseWriter(database, seal, log)

  const report = (error: unknown) =>
    log.failures.report('store', error, 'a cache entry could not be changed', { part: 'change' })
  const findsForFree = (query: CacheQuery) => (vectors.isFree || !needsVector(query)) && !asksJudge(query.account)

  return {
    readExact(bytes, query) {
      const match = bytes && readCopy(bytes, query, seal)
      if (match?.result === 'HIT-SEMANTIC') judgeQueue.noteServed(query, match)
      return match
    },
    readEntry: copies.find,
    readLateEntry: copies.findLate,
    beginFinding(query) {
      if (findsForFree(query)) lookups.begin(query)
    },
    findsForFree,

    async find(query) {
      const startedAtMs = performance.now()
      const lookup = await lookups.lookUp(query).then(
        found => {
          log.failures.recover('lookup')
          return found
        },
        (error): Lookup => {
          log.failures.report('lookup', error, 'a cache lookup failed; treated as a miss')
          return { match: null, missReason: 'no-candidate', vector: null }
        },
      )
      lookup.tookMs = msSince(startedAtMs)
      return lookup
    },

    async store(query, response, vector) {
      const ttlSeconds = keptForSeconds(query.control, query.account)
      if (ttlSeconds <= 0 || response.body.length > MOST_STORED_BYTES) return
      const createdAtMs = nowMs()
      const expiresAtMs = createdAtMs + ttlSeconds * 1000
      const copied = copies.keep(query, { ...response, createdAtMs, expiresAtMs })
      const written = writer.write(query, response, findVector(vectors, query, response, vector), ttlSeconds)
      const leavesEarly = isOnlyProcess() && mayLeaveEarly(query, response) && !writer.isBehind()
      if (leavesEarly || written.comparable !== written.stored) unfinished.add(query, written)
      if (leavesEarly) return
      const findable = copied.then(isCopied => {
        if (!isCopied || writer.isBehind() || !mayBeWrittenLater(query, response)) return written.stored
      })
      await withinTimeLimit(STORE_TIME_LIMIT_MS, findable).catch(() => {})
    },

    restamp(query, match) {
      copies.replace(query, match)
      void stampEntry(database, { ...entryOf(query, match), ...match.entry }).catch(report)
    },

    async discard(query, match) {
      await Promise.all([copies.forget(query, match), deleteEntry(database, entryOf(query, match))]).catch(report)
    },

    async flush() {
      await Promise.all([writer.flush(), judge.flush(), judgeQueue.flush()])
    },
  }
}

function entryOf({ account, requestHash }: CacheQuery, match: Match) {
  return { projectId: account.project_id, requestHash: entryHashOf(requestHash, match) }
}

/** Whether its client need not wait for it to be stored: it has nothing of it yet, and can have nothing deleted. */
function mayLeaveEarly({ identity }: CacheQuery, { isStreamed }: NewResponse): boolean {
  return !isStreamed && identity.endpoint !== 'responses'
}

/**
 * Whether a repeat finds the response by its copy alone: no other words find it; and no client can have it deleted, for which PostgreSQL would
 * have to know it.
 */
function mayBeWrittenLater(query: CacheQuery, { isSemantic }: NewResponse): boolean {
  return query.identity.endpoint !== 'responses' && (!isSemantic || typeof query.semantic() === 'string')
}

function needsVector(query: CacheQuery): boolean {
  const semantic = query.semantic()
  return typeof semantic !== 'string' && semantic.needsVector
}

/** The vector to store the response under; asked for now if the lookup had none. */
function findVector(
  vectors: PromptVectors,
  query: CacheQuery,
  response: NewResponse,
  made: PromptVector | null,
): PromptVector | LateVector | null {
  const semantic = response.isSemantic ? query.semantic() : 'tools'
  if (typeof semantic === 'string' || !semantic.needsVector) return null
  if (made) return made
  if (vectors.isFree) return vectors.make(semantic.reading)
  return { spaceId: vectors.spaceId, made: vectors.findLater(query, semantic.reading.normalized) }
}

/** Reads the bytes under a request's exact key as a match; null when it is too old or not similar enough for the request. */
function readCopy(bytes: Uint8Array, query: CacheQuery, seal: AnswerSeal): Match | null {
  const match = readFitting(bytes, query)
  const body = match && seal.open(match.entry.body, query.account.project_id)
  if (!body || body === match.entry.body) return body && match
  return { ...match, entry: { ...match.entry, body } }
}

function readFitting(bytes: Uint8Array, query: CacheQuery): Match | null {
  const { account, control, requestHash } = query
  const match = isAlias(bytes) ? decodeAliasedEntry(bytes, matchSettings(account)) : readStored(bytes, requestHash)
  const now = nowMs()
  if (!match || match.entry.expiresAtMs <= now) return null
  if (control.maxAgeSeconds !== null && ageSeconds(match.entry, now) > control.maxAgeSeconds) return null
  if (match.result === 'HIT') return match
  // An alias is found under the whole request, which names no user.
  if (isAskersOwn(query)) return null
  const least = match.reason === 'judged' ? -1 : account.semantic_threshold
  return match.similarity > (control.threshold ?? least) ? match : null
}

/** Stored responses: found exactly, by equal normalized text, by meaning, in that order; stored when complete. */
import { createTimeLimit, withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { findAnswer, type SimilarAnswer } from '../postgres/find-answer.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { decodeAliasedEntry, encodeAlias, isAlias } from './alias.ts'
import { keptForSeconds } from './cache-control.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import { ageSeconds, encodeEntry } from './entry.ts'
import type { Judge } from './judge/judge.ts'
import type { JudgeQueue } from './judge/judge-queue.ts'
import type { LearnedEquivalences } from './learned-equivalences.ts'
import { cacheIdOf, type Match, type MissReason, type NearMiss, type SemanticMatch } from './match.ts'
import { lookupThreshold, matchSettings, pickCandidate } from './policy.ts'
import type { PromptVector, PromptVectors } from './prompt-vectors.ts'
import { NOTHING_LEARNED } from './proof/exchange.ts'
import { createResponseWriter, type NewResponse } from './response-writer.ts'
import { readRow, readStored, toMatch, toNearMiss } from './to-match.ts'

const encoder = new TextEncoder()

/** A look into the database that takes longer is a miss: together with admission it stays under a second. */
const LOOKUP_TIME_LIMIT_MS = 400
/** How long a finished response may be held back so that an immediate repeat already finds it. */
const STORE_TIME_LIMIT_MS = 250

/** Larger responses are not kept: writing one would hold up everybody, and nobody asks for so much text twice. */
const MOST_STORED_CHARS = 8 * 1024 * 1024

export interface Lookup {
  match: Match | null
  /** Why there is no match. */
  missReason: MissReason
  /** In shadow mode: what would have been served. */
  shadow?: SemanticMatch
  /** For people to say whether it should have been one. */
  nearMiss?: NearMiss
  /** What a judge might confirm, the most similar first. */
  undecided?: readonly SimilarAnswer[]
  /** What the judge was paid on the way, in US dollars. */
  judgeUsd?: number
  /** Made on the way; kept for storing the response. */
  vector: PromptVector | null
}

export interface Cache {
  /** The entry that came with admission, if it may be served. */
  readExact(bytes: Uint8Array | null, query: CacheQuery): Match | null
  /** An exact entry by its key; null for none, and where the fast store is out of reach. */
  readEntry(exactKey: string | null): Promise<Uint8Array | null>
  /** Whether `find` costs no money: neither a vector nor a judge. */
  findsForFree(query: CacheQuery): boolean
  /** Looks in Postgres: exactly, then by normalized text, then by similarity. Never throws: a failing lookup is a miss. */
  find(query: CacheQuery): Promise<Lookup>
  /** Resolves when an immediate repeat would find it, or shortly after at the latest. Never throws. */
  store(query: CacheQuery, response: NewResponse, vector: PromptVector | null): Promise<void>
  /** Resolves when all that was stored has reached Postgres. */
  flush(): Promise<void>
}

export interface CacheOptions {
  database: Database
  store: FastStore
  vectors: PromptVectors
  judge: Judge
  judgeQueue: JudgeQueue
  equivalences: LearnedEquivalences
  log: Log
}

export function createCache(options: CacheOptions): Cache {
  const { database, store, vectors, judge, judgeQueue, equivalences, log } = options
  const withinLookupTime = createTimeLimit(LOOKUP_TIME_LIMIT_MS)
  const writer = createResponseWriter(database, log)

  /** A failure costs one more look into Postgres. */
  async function copyToStore(exactKey: string, bytes: Uint8Array, expiresAtMs: number): Promise<void> {
    const ttlMs = expiresAtMs - Date.now()
    if (ttlMs > 0) await store.writeEntry(exactKey, bytes, ttlMs).catch(() => {})
  }

  /** From now on, who asks in these words is answered like an exact request. */
  function nameWording(query: CacheQuery, match: SemanticMatch): void {
    const { exactKey, requestHash } = query
    const target = exactKey.replace(requestHash, match.entryHash)
    const alias = encodeAlias({ ...match, target, settings: matchSettings(query.account) })
    void copyToStore(exactKey, alias, match.entry.expiresAtMs)
    void copyToStore(target, encodeEntry(match.entry), match.entry.expiresAtMs)
  }

  /** A free embedder's vector goes along at once; one that is paid for is asked for when nothing else was found. */
  async function lookUp(query: CacheQuery): Promise<Lookup> {
    const semantic = query.semantic()
    if (typeof semantic === 'string') return { ...(await lookUpWith(query, null, null)), missReason: semantic }
    const early = vectors.isFree ? vectors.make(semantic.reading.normalized) : null
    const first = await lookUpWith(query, semantic, early)
    if (vectors.isFree || first.match) return first
    const vector = await vectors.find(query.account, semantic.reading.normalized)
    return vector ? lookUpWith(query, semantic, vector) : first
  }

  /** The most similar of what could not be decided is put to the judge, before upstream is asked. */
  async function lookUpAndJudge(query: CacheQuery): Promise<Lookup> {
    const lookup = await lookUp(query)
    const [candidate] = lookup.match ? [] : (lookup.undecided ?? [])
    const semantic = query.semantic()
    if (!candidate || typeof semantic === 'string') return lookup
    if (!judge.isAskedFor(query.account)) {
      judgeQueue.noteUndecided(query, candidate)
      return lookup
    }
    const { verdict, costUsd: judgeUsd } = await judge.decide(query, semantic, candidate)
    if (verdict !== 'same') return { ...lookup, judgeUsd }
    const match = toMatch(semantic, { row: candidate, reason: 'judged', similarity: Math.min(1, candidate.similarity) })
    if (query.control.store) nameWording(query, match)
    judgeQueue.noteServed(query, match)
    return { ...lookup, match, judgeUsd }
  }

  async function lookUpWith(
    query: CacheQuery,
    semantic: SemanticQuery | null,
    vector: PromptVector | null,
  ): Promise<Lookup> {
    const { account, control, requestHash } = query
    const asked = findAnswer(database, {
      projectId: account.project_id,
      requestHash,
      semantic: semantic && { ...semantic, threshold: lookupThreshold(semantic), vector },
      maxAgeSeconds: control.maxAgeSeconds,
    })
    const known = semantic ? equivalences.of(account) : NOTHING_LEARNED
    const [found, learned] = await withinLookupTime(Promise.all([asked, known]))
    const exact = found.find(row => row.match === 'exact')
    if (exact) {
      const entry = readRow(exact)
      void copyToStore(query.exactKey, encodeEntry(entry), entry.expiresAtMs)
      return {
        match: { result: 'HIT', reason: 'exact', id: cacheIdOf(requestHash), entry },
        missReason: 'no-candidate',
        vector,
      }
    }
    if (!semantic) return { match: null, missReason: 'no-candidate', vector }
    const picked = pickCandidate(semantic, found, account.semantic_policy, learned)
    if ('missReason' in picked) {
      const { nearest, ...none } = picked
      return { match: null, ...none, ...(nearest && { nearMiss: toNearMiss(semantic, nearest) }), vector }
    }
    const match = toMatch(semantic, picked)
    if (account.semantic_mode === 'shadow') return { match: null, missReason: 'shadow', shadow: match, vector }
    if (control.store) nameWording(query, match)
    judgeQueue.noteServed(query, match)
    return { match, missReason: 'no-candidate', vector }
  }

  return {
    readExact(bytes, query) {
      if (!bytes) return null
      const { account, control, requestHash } = query
      const match = isAlias(bytes) ? decodeAliasedEntry(bytes, matchSettings(account)) : readStored(bytes, requestHash)
      const now = Date.now()
      if (!match || match.entry.expiresAtMs <= now) return null
      if (control.maxAgeSeconds !== null && ageSeconds(match.entry, now) > control.maxAgeSeconds) return null
      const threshold = control.threshold ?? account.semantic_threshold
      if (match.result === 'HIT') return match
      if (match.similarity <= threshold && match.reason !== 'judged') return null
      judgeQueue.noteServed(query, match)
      return match
    },

    async readEntry(exactKey) {
      if (exactKey === null) return null
      const [entry = null] = await store.readEntries([exactKey]).catch(() => [])
      return entry
    },

    findsForFree: ({ account }) => vectors.isFree && !judge.isAskedFor(account),

    find(query) {
      return lookUpAndJudge(query).catch(error => {
        log.warn({ cause: describeCause(error) }, 'a cache lookup failed; treated as a miss')
        return { match: null, missReason: 'no-candidate', vector: null }
      })
    },

    async store(query, response, vector) {
      const { account, control, exactKey } = query
      const ttlSeconds = keptForSeconds(control, account)
      if (ttlSeconds <= 0 || response.body.length > MOST_STORED_CHARS) return
      const now = Date.now()
      const entry = {
        ...response,
        body: encoder.encode(response.body),
        createdAtMs: now,
        expiresAtMs: now + ttlSeconds * 1000,
      }
      const copied = copyToStore(exactKey, encodeEntry(entry), entry.expiresAtMs)
      const written = findVector(query, response, vector).then(made => writer.write(query, response, made, ttlSeconds))
      await withinTimeLimit(STORE_TIME_LIMIT_MS, Promise.all([copied, written])).catch(() => {})
    },

    async flush() {
      await Promise.all([writer.flush(), judge.flush(), judgeQueue.flush()])
    },
  }

  /** Made now where the lookup did not need one. */
  async function findVector(
    query: CacheQuery,
    response: NewResponse,
    made: PromptVector | null,
  ): Promise<PromptVector | null> {
    const semantic = response.isSemantic ? query.semantic() : 'tools'
    if (typeof semantic === 'string') return null
    if (made) return made
    const { normalized } = semantic.reading
    return vectors.isFree ? vectors.make(normalized) : vectors.find(query.account, normalized)
  }
}

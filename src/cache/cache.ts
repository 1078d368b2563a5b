/** Stored answers: found exactly, by normalized text, by similarity, in that order; stored when whole. */

import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Account } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import { type FoundAnswer, findAnswer, type SimilarAnswer } from '../postgres/find-answer.ts'
import { storeAnswer } from '../postgres/store-answer.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import { ageSeconds, type CacheEntry, decodeEntry, encodeEntry } from './entry.ts'
import { extractFeatures } from './guards/extract-features.ts'
import { findVeto } from './guards/find-veto.ts'
import type { Match } from './match.ts'
import type { PromptVector, PromptVectors } from './prompt-vectors.ts'

/** A look into the database that takes longer is a miss: together with admission it stays under a second. */
const LOOKUP_TIME_LIMIT_MS = 400
/** How long a finished answer may be held back so that an immediate repeat already finds it. */
const STORE_TIME_LIMIT_MS = 250

export interface Lookup {
  match: Match | null
  /** Made on the way; kept for storing the answer. */
  vector: PromptVector | null
}

export interface NewAnswer {
  /** The plain JSON body. */
  body: string
  provider: string
  promptTokens: number
  completionTokens: number
  /** Whether it may be found by a similar prompt: an answer that calls tools may not. */
  semantic: boolean
}

export interface Cache {
  /** The entry that came with admission, if it may be served. */
  readExact(bytes: Uint8Array | null, query: Pick<CacheQuery, 'control'>): Match | null
  /** An exact entry by its key; null for none, and where the fast store is out of reach. */
  readEntry(exactKey: string | null): Promise<Uint8Array | null>
  /** Whether `find` costs no money. */
  readonly findsForFree: boolean
  /** Looks in Postgres: exactly, then by normalized text, then by similarity. Never throws: a failing lookup is a miss. */
  find(query: CacheQuery): Promise<Lookup>
  /** Resolves when an immediate repeat would find it, or shortly after at the latest. Never throws. */
  store(query: CacheQuery, answer: NewAnswer, vector: PromptVector | null): Promise<void>
}

export interface CacheOptions {
  database: Database
  store: FastStore
  vectors: PromptVectors
  log: Log
}

const encoder = new TextEncoder()

export function createCache({ database, store, vectors, log }: CacheOptions): Cache {
  /** Those of a free embedder, made once for each query. */
  const freeVectors = new WeakMap<SemanticQuery, PromptVector>()

  /** A failure costs one more look into Postgres. */
  async function refill(query: CacheQuery, entry: CacheEntry): Promise<void> {
    const ttlMs = entry.expiresAtMs - Date.now()
    if (ttlMs <= 0) return
    await store.writeEntry(query.exactKey, encodeEntry(entry), ttlMs).catch(() => {})
  }

  /** Null where a vector costs money. */
  function makeFreeVector(semantic: SemanticQuery): PromptVector | null {
    if (!vectors.isFree) return null
    let vector = freeVectors.get(semantic)
    if (!vector) {
      vector = vectors.make(semantic.normalized)
      freeVectors.set(semantic, vector)
    }
    return vector
  }

  /** A free embedder's vector goes along at once; one that is paid for is asked for when nothing else was found. */
  async function lookUp(query: CacheQuery): Promise<Lookup> {
    const semantic = query.semantic()
    const early = semantic && makeFreeVector(semantic)
    const first = await lookUpWith(query, early)
    if (!semantic || vectors.isFree || first.match) return first
    const vector = await vectors.find(query.account, semantic.normalized)
    return vector ? lookUpWith(query, vector) : first
  }

  async function lookUpWith(query: CacheQuery, vector: PromptVector | null): Promise<Lookup> {
    const { account, control, requestHash } = query
    const semantic = query.semantic()
    const threshold = control.threshold ?? account.semantic_threshold
    const asked = findAnswer(database, {
      projectId: account.project_id,
      requestHash,
      semantic: semantic && { ...semantic, vector, threshold },
      maxAgeSeconds: control.maxAgeSeconds,
    })
    const found = await withinTimeLimit(LOOKUP_TIME_LIMIT_MS, asked)
    const exact = found.find(row => row.match === 'exact')
    if (exact) {
      const entry = readRow(exact)
      void refill(query, entry)
      return { match: { result: 'HIT', entry }, vector }
    }
    return { match: pickUnvetoed(query, found, threshold), vector }
  }

  /** Stores in Postgres, with the prompt's vector: made now where the lookup did not need one. */
  async function keep(
    query: CacheQuery,
    answer: NewAnswer,
    vector: PromptVector | null,
    ttlSeconds: number,
  ): Promise<void> {
    const { account, identity, requestHash, model } = query
    const semantic = answer.semantic ? query.semantic() : null
    const embedded = vector ?? (semantic && (await findVector(account, semantic)))
    await storeAnswer(database, {
      projectId: account.project_id,
      requestHash,
      namespace: identity.namespace,
      endpoint: identity.endpoint,
      model,
      provider: answer.provider,
      response: answer.body,
      promptTokens: answer.promptTokens,
      completionTokens: answer.completionTokens,
      ttlSeconds,
      semantic: semantic && {
        contextHash: semantic.contextHash,
        normalizedHash: semantic.normalizedHash,
        prompt: semantic.text,
        vector: embedded,
      },
    })
  }

  async function findVector(account: Account, semantic: SemanticQuery): Promise<PromptVector | null> {
    return vectors.isFree ? makeFreeVector(semantic) : vectors.find(account, semantic.normalized)
  }

  return {
    readExact(bytes, { control }) {
      const entry = bytes ? decodeEntry(bytes) : null
      const now = Date.now()
      if (!entry || entry.expiresAtMs <= now) return null
      if (control.maxAgeSeconds !== null && ageSeconds(entry, now) > control.maxAgeSeconds) return null
      return { result: 'HIT', entry }
    },

    async readEntry(exactKey) {
      if (exactKey === null) return null
      const [entry = null] = await store.readEntries([exactKey]).catch(() => [])
      return entry
    },

    findsForFree: vectors.isFree,

    find(query) {
      return lookUp(query).catch(error => {
        log.warn({ cause: describeCause(error) }, 'a cache lookup failed; treated as a miss')
        return { match: null, vector: null }
      })
    },

    async store(query, answer, vector) {
      const { account, control } = query
      const ttlSeconds = control.ttlSeconds ?? account.cache_ttl_seconds
      if (!control.store || ttlSeconds <= 0) return
      const now = Date.now()
      const refilled = refill(query, {
        body: encoder.encode(answer.body),
        provider: answer.provider,
        promptTokens: answer.promptTokens,
        completionTokens: answer.completionTokens,
        createdAtMs: now,
        expiresAtMs: now + ttlSeconds * 1000,
      })
      const stored = keep(query, answer, vector, ttlSeconds).catch(error => {
        log.warn({ cause: describeCause(error) }, 'an answer could not be stored')
      })
      await withinTimeLimit(STORE_TIME_LIMIT_MS, Promise.all([refilled, stored])).catch(() => {})
    },
  }
}

/** The most similar answer that no guard objects to. */
function pickUnvetoed(query: CacheQuery, found: readonly FoundAnswer[], threshold: number): Match | null {
  const semantic = query.semantic()
  if (!semantic) return null
  const candidates = found
    .filter(row => row.match !== 'exact' && row.similarity > threshold)
    .toSorted((a, b) => similarityOf(b) - similarityOf(a))
  for (const candidate of candidates as SimilarAnswer[]) {
    if (semantic.features && findVeto(semantic.features, extractFeatures(candidate.prompt))) continue
    return { result: 'HIT-SEMANTIC', entry: readRow(candidate), similarity: Math.min(1, candidate.similarity) }
  }
  return null
}

function similarityOf(row: FoundAnswer): number {
  return row.match === 'exact' ? 1 : row.similarity
}

function readRow(row: FoundAnswer): CacheEntry {
  return {
    body: encoder.encode(row.response),
    provider: row.provider,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}

/** Stored answers: found exactly, by normalized text, by similarity, in that order; stored when whole. */
import type { Database } from '../postgres/database.ts'
import { findAnswer, findSimilar, type StoredAnswer } from '../postgres/find-answer.ts'
import { storeAnswer } from '../postgres/store-answer.ts'
import { entryName, type FastStore } from '../redis/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import { withinTimeLimit } from '../time-limit.ts'
import { ageSeconds, type CacheEntry, decodeEntry, encodeEntry } from './entry.ts'
import { extractFeatures } from './guards/extract-features.ts'
import { findVeto } from './guards/find-veto.ts'
import type { PromptVector, PromptVectors } from './prompt-vectors.ts'
import type { Question } from './question.ts'

/** A lookup that takes longer is a miss. */
const LOOKUP_TIME_LIMIT_MS = 1_000
/** How long a finished answer may be held back so that an immediate repeat already finds it. */
const STORE_TIME_LIMIT_MS = 250

export type Match =
  | { result: 'HIT'; entry: CacheEntry }
  | { result: 'HIT-SEMANTIC'; entry: CacheEntry; similarity: number }

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
  readExact(bytes: Uint8Array | null, question: Pick<Question, 'control'>): Match | null
  /** Looks in Postgres: exactly, then by normalized text, then by similarity. Never throws: a failing lookup is a miss. */
  find(question: Question): Promise<Lookup>
  /** Resolves when an immediate repeat would find it, or shortly after at the latest. Never throws. */
  store(question: Question, answer: NewAnswer, vector: PromptVector | null): Promise<void>
}

export interface CacheOptions {
  database: Database
  store: FastStore
  vectors: PromptVectors
  log: Log
}

const encoder = new TextEncoder()

export function createCache({ database, store, vectors, log }: CacheOptions): Cache {
  function refill(question: Question, entry: CacheEntry): void {
    const { account, requestHash } = question
    const ttlMs = entry.expiresAtMs - Date.now()
    if (ttlMs <= 0) return
    // Not waited for, and a failure costs one more look into Postgres.
    store
      .writeEntry(entryName(account.project_id, account.cache_generation, requestHash), encodeEntry(entry), ttlMs)
      .catch(() => {})
  }

  async function lookUp(question: Question): Promise<Lookup> {
    const { account, control, requestHash, semantic } = question
    const found = await findAnswer(database, {
      projectId: account.project_id,
      requestHash,
      semantic,
      maxAgeSeconds: control.maxAgeSeconds,
    })
    const exact = found.find(row => row.match === 'exact')
    if (exact) {
      const entry = readRow(exact)
      refill(question, entry)
      return { match: { result: 'HIT', entry }, vector: null }
    }
    if (!semantic) return { match: null, vector: null }

    const threshold = control.threshold ?? account.semantic_threshold
    const candidates = found.flatMap(row =>
      row.match === 'normalized' && threshold < 1 ? [{ ...row, similarity: 1 }] : [],
    )
    const sameText = pickUnvetoed(question, candidates)
    if (sameText) return { match: sameText, vector: null }

    const vector = await vectors.find(account.project_id, semantic.normalized, semantic.normalizedHash)
    if (!vector) return { match: null, vector: null }
    const similar = await findSimilar(database, {
      projectId: account.project_id,
      contextHash: semantic.contextHash,
      spaceId: vector.spaceId,
      vector: vector.values,
      threshold,
      maxAgeSeconds: control.maxAgeSeconds,
    })
    return { match: pickUnvetoed(question, similar), vector }
  }

  return {
    readExact(bytes, { control }) {
      const entry = bytes ? decodeEntry(bytes) : null
      const now = Date.now()
      if (!entry || entry.expiresAtMs <= now) return null
      if (control.maxAgeSeconds !== null && ageSeconds(entry, now) > control.maxAgeSeconds) return null
      return { result: 'HIT', entry }
    },

    find(question) {
      return withinTimeLimit(LOOKUP_TIME_LIMIT_MS + (question.semantic ? 2_000 : 0), lookUp(question)).catch(error => {
        log.warn({ error: String(error) }, 'a cache lookup failed; treated as a miss')
        return { match: null, vector: null }
      })
    },

    async store(question, answer, vector) {
      const { account, control, identity, requestHash } = question
      const ttlSeconds = control.ttlSeconds ?? account.cache_ttl_seconds
      if (!control.store || ttlSeconds <= 0) return
      const semantic = answer.semantic ? question.semantic : null
      const now = Date.now()
      refill(question, {
        body: encoder.encode(answer.body),
        provider: answer.provider,
        promptTokens: answer.promptTokens,
        completionTokens: answer.completionTokens,
        createdAtMs: now,
        expiresAtMs: now + ttlSeconds * 1000,
      })
      const embedded =
        semantic && !vector
          ? await vectors.find(account.project_id, semantic.normalized, semantic.normalizedHash)
          : vector
      const stored = storeAnswer(database, {
        projectId: account.project_id,
        requestHash,
        namespace: identity.namespace,
        endpoint: identity.endpoint,
        model: question.model,
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
      }).catch(error => {
        log.warn({ error: String(error) }, 'an answer could not be stored')
      })
      await withinTimeLimit(STORE_TIME_LIMIT_MS, stored).catch(() => {})
    },
  }
}

/** The first candidate, most similar first, that no guard objects to. */
function pickUnvetoed(
  question: Question,
  candidates: readonly (StoredAnswer & { prompt: string; similarity: number })[],
): Match | null {
  const { semantic, account } = question
  if (!semantic || candidates.length === 0) return null
  const asked = account.semantic_guards ? extractFeatures(semantic.text) : null
  const picked = candidates.find(
    ({ prompt }) => asked === null || prompt === semantic.text || !findVeto(asked, extractFeatures(prompt)),
  )
  if (!picked) return null
  return { result: 'HIT-SEMANTIC', entry: readRow(picked), similarity: Math.min(1, picked.similarity) }
}

function readRow(row: StoredAnswer): CacheEntry {
  return {
    body: encoder.encode(row.response),
    provider: row.provider,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}

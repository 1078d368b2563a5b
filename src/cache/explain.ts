/** Explains what the cache would do with a request and why. Called by people, never while a request is processed. */
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { CacheMatchRow, CacheSearch, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import { clamp, listObjections, type Objection } from './cache-decision.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import { type CacheScope, resolveCacheScope } from './cache-scope.ts'
import { cacheIdOf, type SemanticReason } from './entry.ts'
import { nameContext } from './lookup.ts'
import type { PendingWrites } from './pending-writes.ts'
import {
  exceedsThreshold,
  isCandidate,
  isJudgedInline,
  nameDifference,
  type ScoredRow,
  scoreRows,
  selectCandidate,
} from './policy.ts'
import type { PromptEmbedder } from './prompt-embedder.ts'
import type { MissReason } from './reasons.ts'
import { createResponseFinder } from './response-finder.ts'
import { normalizeInSameContext } from './text/normalize-prompt.ts'
import { findDifferences, type TextDifference } from './verify/difference.ts'

const MAX_NEAREST = 5

export interface LookupExplanation {
  /** The inputs of the exact entry's key. */
  key: {
    id: string
    hash: string
    /** The sharing scope of the entry. */
    scope: CacheScope
    namespace: string
    version: string
    endpoint: string
    route: string
    canonical_body: string
  }
  /** The semantic part; null when the request may not be matched semantically. */
  semantic: {
    text: string
    normalized: string
    context_hash: string
    /** Names the instructions in the project's setting `semantic_contexts`. Null without instructions. */
    instructions_hash: string | null
    /** True if the instructions work on the wording of the text, so that only equal text matches. */
    wording_matters: boolean
    mode: string
    policy: string
    threshold: number
  } | null
  nearest: ExplainedCandidate[]
  decision: LookupDecision
}

export interface ExplainedCandidate {
  id: string
  /** What is held against the threshold: 1 for equal normalized texts, else the verifier's score, or the cosine under `threshold`. */
  similarity: number
  /** The cosine of the texts' vectors; null where it is the similarity. */
  cosine: number | null
  /** The cached prompt. Null, without differences, for another key's prompt when the project does not store the text of requests. */
  text: string | null
  /** `normalized`, `verified`, or the reason against the match. */
  proof: string
  /** The verdict of a person or else of the judge. Null without a verdict. */
  verdict: { verdict: string; source: string } | null
  /** The numbers of the pair that spoke most against it, with what each took from the log odds. Empty where the verifier is not asked. */
  objections: readonly Objection[]
  differences: readonly TextDifference[]
}

type NearestRow = Extract<ScoredRow, SimilarMatchRow>

export type LookupDecision =
  | { cache: 'HIT'; reason: 'exact'; id: string }
  | { cache: 'HIT-SEMANTIC'; reason: SemanticReason; id: string }
  | { cache: 'MISS'; reason: MissReason; asks_judge: boolean }

export interface LookupExplainer {
  /** True when an explanation may call an embedder, which costs money or processor time. Then it counts as a request. */
  readonly isMetered: boolean
  /** Rejects when the database is unavailable. */
  explain(query: CacheQuery): Promise<LookupExplanation>
}

export interface LookupExplainerOptions {
  database: Database
  unfinished: PendingWrites
  vectors: PromptEmbedder
  seal: ContentSeal
}

export function createLookupExplainer({
  database,
  unfinished,
  vectors,
  seal,
}: LookupExplainerOptions): LookupExplainer {
  const findResponses = createResponseFinder(database, seal)
  const findOne = async (search: CacheSearch): Promise<CacheMatchRow[]> =>
    (await findResponses([search]))[0]?.matches ?? []

  /** Finds the nearest entries at any distance. */
  async function findNearest(query: CacheQuery, semantic: SemanticQuery): Promise<NearestRow[]> {
    const { resolvedKey, control } = query
    const { normalized } = semantic.normalizedPrompt
    const vector = vectors.isFree
      ? vectors.make(semantic.normalizedPrompt)
      : await vectors.find({ resolvedKey, control, identity: query.identity }, normalized)
    const found = await findOne({
      projectId: resolvedKey.project_id,
      requestHash: NO_REQUEST,
      semantic: { ...semantic, threshold: BELOW_ALL, vector, comparesNewest: true },
      maxAgeSeconds: control.maxAgeSeconds,
    })
    const byEntry = new Map<number, NearestRow>()
    for (const row of scoreRows(semantic, found, resolvedKey.semantic_policy, vectors.isReadByVerifier))
      if (row.match !== 'exact' && !byEntry.has(row.entry_id)) byEntry.set(row.entry_id, row)
    return [...byEntry.values()].sort((a, b) => rankOf(b) - rankOf(a)).slice(0, MAX_NEAREST)
  }

  async function hasExact({ resolvedKey, control, requestHash }: CacheQuery): Promise<boolean> {
    const { maxAgeSeconds } = control
    const search = { projectId: resolvedKey.project_id, requestHash, semantic: null, maxAgeSeconds }
    return (await findOne(search)).length > 0
  }

  /** Finds the entries whose prompt the key may read. */
  async function findReadable({ resolvedKey }: CacheQuery, nearest: readonly NearestRow[]): Promise<Set<number>> {
    const { project_id: of_project, key_id: of_key } = resolvedKey
    const readable = await callFunction(database, 'find_readable_entries', {
      of_project,
      of_key,
      entry_ids: nearest.map(row => row.entry_id),
    })
    return new Set(readable.map(row => row.entry_id))
  }

  return {
    isMetered: !vectors.isFree,
    async explain(query) {
      const semantic = query.semantic()
      const isSemantic = typeof semantic !== 'string'
      await unfinished.waitFor(query, isSemantic ? { ...semantic, comparesNewest: true } : null, 'vector')
      const [isExact, nearest] = await Promise.all([hasExact(query), isSemantic ? findNearest(query, semantic) : []])
      const shown = await findReadable(query, nearest)
      return {
        key: describeKey(query),
        semantic: isSemantic ? describeSemantic(query, semantic) : null,
        nearest: isSemantic
          ? nearest.map(row => describeCandidate(semantic, row, shown.has(row.entry_id), vectors.isReadByVerifier))
          : [],
        decision: explainDecision(query, isExact, nearest),
      }
    },
  }
}

/** Ranks confirmed entries first, because they may be served at any similarity. */
const rankOf = ({ match, similarity }: NearestRow) => similarity + (match === 'confirmed' ? 2 : 0)

/** No request has this hash, so only similar entries are found. */
const NO_REQUEST = '0'.repeat(64)
const BELOW_ALL = -2

function explainDecision(query: CacheQuery, isExact: boolean, nearest: readonly NearestRow[]): LookupDecision {
  const { resolvedKey, control, requestHash } = query
  const miss = (reason: MissReason, asks_judge = false): LookupDecision => ({ cache: 'MISS', reason, asks_judge })
  if (!control.lookup) return miss(control.isOldVersion ? 'old-version' : 'no-store')
  if (isExact) return { cache: 'HIT', reason: 'exact', id: cacheIdOf(requestHash) }
  const semantic = query.semantic()
  if (typeof semantic === 'string') return miss(semantic)
  const found = nearest.filter(row => isCandidate(query, semantic, row))
  const picked = selectCandidate(semantic, found, resolvedKey.semantic_policy)
  if ('missReason' in picked) {
    const isJudged = picked.undecided.length > 0 && isJudgedInline(resolvedKey)
    const reason = nearest.length > 0 && found.length === 0 ? 'below-threshold' : picked.missReason
    return miss(nameContext(query, reason), isJudged)
  }
  if (resolvedKey.semantic_mode === 'shadow') return miss('shadow')
  return { cache: 'HIT-SEMANTIC', reason: picked.reason, id: cacheIdOf(picked.row.request_hash) }
}

function describeKey({ resolvedKey, identity, requestHash }: CacheQuery): LookupExplanation['key'] {
  const { namespace, version, endpoint, route, canonicalBody } = identity
  const named = {
    id: cacheIdOf(requestHash),
    hash: requestHash,
    scope: resolveCacheScope(resolvedKey, identity.body),
    namespace,
    version,
  }
  return { ...named, endpoint, route, canonical_body: canonicalBody }
}

function describeSemantic({ resolvedKey }: CacheQuery, semantic: SemanticQuery) {
  const { normalizedPrompt, contextHash, instructionsHash, threshold } = semantic
  return {
    text: normalizedPrompt.text,
    normalized: normalizedPrompt.normalized,
    context_hash: contextHash,
    instructions_hash: instructionsHash,
    wording_matters: normalizedPrompt.context === 'work',
    mode: resolvedKey.semantic_mode,
    policy: resolvedKey.semantic_policy,
    threshold,
  }
}

function describeCandidate(
  semantic: SemanticQuery,
  row: NearestRow,
  isShown: boolean,
  readsCosine: boolean,
): ExplainedCandidate {
  const { normalizedPrompt } = semantic
  const cached = normalizeInSameContext(normalizedPrompt, row.prompt)
  const isEqual = normalizedPrompt.normalized === cached.normalized
  const isServable = exceedsThreshold(semantic, row) && !row.veto && row.cosine !== undefined
  return {
    id: cacheIdOf(row.request_hash),
    similarity: clamp(row.similarity),
    cosine: row.cosine === undefined ? null : clamp(row.cosine),
    text: isShown ? row.prompt : null,
    proof: isEqual ? 'normalized' : isServable ? 'verified' : nameDifference(semantic, row),
    verdict: row.verdict === null ? null : { verdict: row.verdict, source: row.verdict_source },
    objections: listObjections(semantic, row, readsCosine),
    differences: isShown ? findDifferences(normalizedPrompt.text, cached.text) : [],
  }
}

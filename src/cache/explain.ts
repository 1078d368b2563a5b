/** Explains what the cache would do with a request, and why. Used by people, never on a request's path. */
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { AnswerAsk, FoundAnswer, SimilarAnswer } from '../postgres/find-answer.ts'
import type { AnswerSeal } from '../stores/answer-seal.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import { type CacheScope, scopeOf } from './cache-scope.ts'
import { cacheIdOf, type SemanticReason } from './entry.ts'
import { createFindAnswers } from './open-answers.ts'
import { asksJudge, isCandidate, pickCandidate, vetoOf } from './policy.ts'
import type { PromptVectors } from './prompt-vectors.ts'
import type { MissReason } from './reasons.ts'
import { readBeside } from './text/read-prompt.ts'
import type { UnfinishedWrites } from './unfinished-writes.ts'
import { type Difference, findDifferences } from './verify/difference.ts'

const NEAREST = 5

export interface Explanation {
  /** The inputs of the exact entry's key. */
  key: {
    id: string
    hash: string
    /** Who may share the entry. */
    scope: CacheScope
    namespace: string
    endpoint: string
    route: string
    canonical_body: string
  }
  /** The semantic part; null when the request may not be matched semantically. */
  semantic: {
    text: string
    normalized: string
    context_hash: string
    mode: string
    policy: string
    threshold: number
  } | null
  nearest: ExplainedCandidate[]
  decision: Decision
}

export interface ExplainedCandidate {
  id: string
  similarity: number
  /** Null, with no differences, for another key's question where the text of requests is not kept. */
  text: string | null
  /** 'normalized', 'verified', or what speaks against the pair. */
  proof: string
  /** The verdict of a person, or else of the judge; null when there is none. */
  verdict: { verdict: string; source: string } | null
  differences: readonly Difference[]
}

export type Decision =
  | { cache: 'HIT'; reason: 'exact'; id: string }
  | { cache: 'HIT-SEMANTIC'; reason: SemanticReason; id: string }
  | { cache: 'MISS'; reason: MissReason; asks_judge: boolean }

export interface Explainer {
  /** Whether an explanation may ask an embedder, which costs money or the processor: then it counts as a request. */
  readonly costs: boolean
  /** Throws when the database is out of reach. */
  explain(query: CacheQuery): Promise<Explanation>
}

export interface ExplainerOptions {
  database: Database
  unfinished: UnfinishedWrites
  vectors: PromptVectors
  seal: AnswerSeal
}

export function createExplainer({ database, unfinished, vectors, seal }: ExplainerOptions): Explainer {
  const findAnswers = createFindAnswers(database, seal)
  const findAnswer = async (ask: AnswerAsk): Promise<FoundAnswer[]> => (await findAnswers([ask]))[0]?.answers ?? []

  /** The nearest entries at any distance. */
  async function findNearest(query: CacheQuery, semantic: SemanticQuery): Promise<SimilarAnswer[]> {
    const { account, control } = query
    const { normalized } = semantic.reading
    const vector = vectors.isFree
      ? vectors.make(semantic.reading)
      : await vectors.find({ account, control, identity: query.identity }, normalized)
    const found = await findAnswer({
      projectId: account.project_id,
      requestHash: NO_REQUEST,
      semantic: { ...semantic, threshold: BELOW_ALL, vector, anchorHash: null },
      maxAgeSeconds: control.maxAgeSeconds,
    })
    const byEntry = new Map<number, SimilarAnswer>()
    for (const row of found) if (row.match !== 'exact' && !byEntry.has(row.entry_id)) byEntry.set(row.entry_id, row)
    return [...byEntry.values()].sort((a, b) => rankOf(b) - rankOf(a)).slice(0, NEAREST)
  }

  async function hasExact({ account, control, requestHash }: CacheQuery): Promise<boolean> {
    const { maxAgeSeconds } = control
    const asked = { projectId: account.project_id, requestHash, semantic: null, maxAgeSeconds }
    return (await findAnswer(asked)).length > 0
  }

  /** The entries whose question the asking key may see. */
  async function findShown({ account }: CacheQuery, nearest: readonly SimilarAnswer[]): Promise<Set<number>> {
    const { project_id: of_project, key_id: of_key } = account
    const shown = await call(database, 'texts_for_key', {
      of_project,
      of_key,
      entry_ids: nearest.map(row => row.entry_id),
    })
    return new Set(shown.map(row => row.entry_id))
  }

  return {
    costs: !vectors.isFree,
    async explain(query) {
      const semantic = query.semantic()
      const isSemantic = typeof semantic !== 'string'
      await unfinished.before(query, isSemantic ? { ...semantic, anchorHash: null } : null, 'vector')
      const [isExact, nearest] = await Promise.all([hasExact(query), isSemantic ? findNearest(query, semantic) : []])
      const shown = await findShown(query, nearest)
      const describe = { tellsMeaning: !vectors.isFree, shown }
      return {
        key: describeKey(query),
        semantic: isSemantic ? describeSemantic(query, semantic) : null,
        nearest: isSemantic ? nearest.map(row => describeCandidate(query, semantic, row, describe)) : [],
        decision: decide(query, isExact, nearest, describe.tellsMeaning),
      }
    },
  }
}

/** What was confirmed may be served however little similar it is. */
const rankOf = ({ match, similarity }: SimilarAnswer) => similarity + (match === 'confirmed' ? 2 : 0)

/** No request has this hash, so only similar entries are found. */
const NO_REQUEST = '0'.repeat(64)
const BELOW_ALL = -2

function decide(
  query: CacheQuery,
  isExact: boolean,
  nearest: readonly SimilarAnswer[],
  tellsMeaning: boolean,
): Decision {
  const { account, control, requestHash } = query
  const miss = (reason: MissReason, asks_judge = false): Decision => ({ cache: 'MISS', reason, asks_judge })
  if (!control.lookup) return miss('no-store')
  if (isExact) return { cache: 'HIT', reason: 'exact', id: cacheIdOf(requestHash) }
  const semantic = query.semantic()
  if (typeof semantic === 'string') return miss(semantic)
  const found = nearest.filter(row => isCandidate(query, semantic, row))
  const picked = pickCandidate(semantic, found, account.semantic_policy, tellsMeaning)
  if ('missReason' in picked) {
    const isJudged = picked.undecided.length > 0 && asksJudge(account)
    return miss(nearest.length > 0 && found.length === 0 ? 'below-threshold' : picked.missReason, isJudged)
  }
  if (account.semantic_mode === 'shadow') return miss('shadow')
  return { cache: 'HIT-SEMANTIC', reason: picked.reason, id: cacheIdOf(picked.row.request_hash) }
}

function describeKey({ account, identity, requestHash }: CacheQuery): Explanation['key'] {
  const { namespace, endpoint, route, canonicalBody } = identity
  const named = { id: cacheIdOf(requestHash), hash: requestHash, scope: scopeOf(account, identity.body), namespace }
  return { ...named, endpoint, route, canonical_body: canonicalBody }
}

function describeSemantic({ account }: CacheQuery, { reading, contextHash, threshold }: SemanticQuery) {
  return {
    text: reading.text,
    normalized: reading.normalized,
    context_hash: contextHash,
    mode: account.semantic_mode,
    policy: account.semantic_policy,
    threshold,
  }
}

function describeCandidate(
  { account }: CacheQuery,
  semantic: SemanticQuery,
  row: SimilarAnswer,
  { tellsMeaning, shown }: { tellsMeaning: boolean; shown: ReadonlySet<number> },
): ExplainedCandidate {
  const { reading } = semantic
  const cached = readBeside(reading, row.prompt)
  const isShown = shown.has(row.entry_id)
  return {
    id: cacheIdOf(row.request_hash),
    similarity: Math.min(1, Math.max(0, row.similarity)),
    text: isShown ? row.prompt : null,
    proof:
      reading.normalized === cached.normalized
        ? 'normalized'
        : (vetoOf(semantic, row, account.semantic_policy, tellsMeaning) ?? 'verified'),
    verdict: row.verdict === null ? null : { verdict: row.verdict, source: row.verdict_source },
    differences: isShown ? findDifferences(reading.text, cached.text) : [],
  }
}

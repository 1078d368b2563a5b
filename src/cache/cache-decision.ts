/** Decides about the candidates of a lookup, and describes the decision for the request's record, so that nobody has to compute it anew. */
import type { MinuteLimiter } from '../event-loop/minute-limiter.ts'
import type { CacheSearchResult, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { RecordDetails } from '../postgres/usage-record.ts'
import { type CacheQuery, isUserScoped, type SemanticQuery } from './cache-query.ts'
import { resolveCacheScope } from './cache-scope.ts'
import { promptGroupKey } from './candidate-search.ts'
import {
  type CachedResponseMatch,
  cacheIdOf,
  type EntryMetadata,
  type NearMiss,
  type SemanticMatch,
  toExactMatch,
} from './entry.ts'
import {
  isCandidate,
  isNearMiss,
  knownCosine,
  nameDifference,
  type ScoredRow,
  scoreRows,
  selectCandidate,
} from './policy.ts'
import type { MissReason } from './reasons.ts'
import { toCacheEntry, toNearMiss, toSemanticMatch } from './row-to-match.ts'
import { normalizeInSameContext } from './text/normalize-prompt.ts'
import { findObjections } from './verify/verify.ts'

type Row = Extract<ScoredRow, SimilarMatchRow>

/** A number of the pair, and what it took from the log odds. */
export type Objection = { number: string; effect: number }

/** The columns of a usage record that describe the decision. */
export type DecisionColumns = Pick<RecordDetails, 'cache_decision' | 'cache_id' | 'similarity'>

export interface Decision {
  match: CachedResponseMatch | null
  missReason: MissReason
  /** The semantic match to serve once its response is read. */
  picked?: SemanticMatch<EntryMetadata>
  shadow?: SemanticMatch<EntryMetadata>
  nearMiss?: NearMiss
  undecided?: readonly SimilarMatchRow[]
  /** Absent if nothing was compared. */
  columns?: DecisionColumns
}

interface Conditions {
  /** Whether the verifier knows the space of the cosines. */
  readsCosine: boolean
  mayRecordNearMiss: MinuteLimiter
}

/** Returns the match among the rows, or the reason why none may be served. */
export function decide(
  query: CacheQuery,
  { matches, hasBelowThreshold }: CacheSearchResult,
  { readsCosine, mayRecordNearMiss }: Conditions,
): Decision {
  const { resolvedKey, requestHash } = query
  const semantic = query.semantic()
  const exact = matches.find(row => row.match === 'exact')
  if (exact) return { match: toExactMatch(requestHash, toCacheEntry(exact)), missReason: 'no-candidate' }
  if (typeof semantic === 'string') return { match: null, missReason: semantic }
  const found = scoreRows(semantic, matches, resolvedKey.semantic_policy, readsCosine)
    .filter(row => row.match !== 'exact')
    .sort((one, other) => other.similarity - one.similarity)
  const describe = (row: Row, isExplained: boolean) => {
    const objections = isExplained ? listObjections(semantic, row, readsCosine) : []
    return describeDecision(query, semantic, { row, compared: found.length, objections })
  }
  const isNear = (row: ScoredRow) => isCandidate(query, semantic, row)
  const picked = selectCandidate(semantic, found.filter(isNear), resolvedKey.semantic_policy)
  if (!('missReason' in picked)) {
    const columns = describe(picked.row, picked.reason === 'verified')
    const match = toSemanticMatch(semantic, picked)
    if (resolvedKey.semantic_mode === 'shadow') return { match: null, missReason: 'shadow', shadow: match, columns }
    return { match: null, missReason: 'no-candidate', picked: match, columns }
  }
  const { nearest, ...none } = picked
  const sample = nearest ?? found.find(row => row.verdict === null && !isNear(row))
  const isBelow = hasBelowThreshold || found.some(row => !isNear(row))
  if (isBelow && none.missReason === 'no-candidate') none.missReason = 'below-threshold'
  const isRecorded =
    sample !== undefined && isNearMiss(sample) && mayRecordNearMiss(promptGroupKey(resolvedKey, semantic.contextHash))
  const [top] = found
  const missed = { match: null, ...none, ...(top && { columns: describe(sample ?? top, isRecorded) }) }
  if (!isRecorded) return missed
  const difference = nearest ? nameDifference(semantic, nearest) : null
  return { ...missed, nearMiss: toNearMiss(semantic, { row: sample, difference }) }
}

/** Returns what spoke most against the pair; nothing for equal texts, and where the verifier was not asked. */
export function listObjections({ normalizedPrompt }: SemanticQuery, row: Row, readsCosine: boolean): Objection[] {
  if (row.cosine === undefined || row.veto === 'prose') return []
  const cached = normalizeInSameContext(normalizedPrompt, row.prompt)
  if (cached.normalized === normalizedPrompt.normalized) return []
  const found = findObjections(normalizedPrompt, cached, readsCosine ? knownCosine(row) : null)
  return found.map(([number, effect]) => ({ number, effect: Math.round(effect * 100) / 100 }))
}

function describeDecision(
  query: CacheQuery,
  semantic: SemanticQuery,
  { row, compared, objections }: { row: Row; compared: number; objections: Objection[] },
): DecisionColumns {
  const { resolvedKey, identity } = query
  const isVerifiers = row.cosine !== undefined
  return {
    similarity: clamp(row.similarity),
    cache_id: cacheIdOf(row.request_hash),
    cache_decision: {
      policy: resolvedKey.semantic_policy,
      risk: isVerifiers ? semantic.risk : null,
      threshold: semantic.threshold,
      cosine: row.cosine === undefined ? null : round(clamp(row.cosine)),
      compared,
      scope: isUserScoped(query) ? 'user' : resolveCacheScope(resolvedKey, identity.body),
      veto: row.veto ?? null,
      verdict: row.verdict === null ? null : `${row.verdict_source}: ${row.verdict}`,
      objections,
    },
  }
}

/** A similarity from 0 to 1. */
export const clamp = (similarity: number) => Math.min(1, Math.max(0, similarity))
const round = (cosine: number) => Math.round(cosine * 10_000) / 10_000

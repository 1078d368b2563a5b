/** What the cache is asked: one request, by its hash and, where it may be matched by meaning, by its text. */
import { sha256 } from '../json/canonical.ts'
import type { Account } from '../postgres/admit.ts'
import { callName, entryName } from '../stores/fast-store.ts'
import type { PromptReading } from '../text/read-prompt.ts'
import { readAsked, takeAskedText } from './asked-text.ts'
import type { CacheControl } from './cache-control.ts'
import { hashContext, type RequestIdentity } from './exact-key.ts'
import type { MissReason } from './match.ts'
import { bypassReason } from './proof/bypass.ts'

export interface CacheQuery {
  account: Account
  control: CacheControl
  identity: RequestIdentity
  /** Hex SHA-256 of the whole request. */
  requestHash: string
  /** Under which the response to exactly this request is kept in the fast store. */
  exactKey: string
  /** Under which identical requests share a call: those that would also accept the same stored responses. */
  callName: string
  /** The model as the client asked for it. */
  model: string
  /** What is asked by meaning, or why nothing is. Read when it is first called. */
  semantic(): SemanticQuery | MissReason
}

export interface SemanticQuery {
  /** The one text that may be worded otherwise. */
  reading: PromptReading
  /** Hex SHA-256 of the text as proof writes it. */
  normalizedHash: string
  /** Hex SHA-256 of everything else. */
  contextHash: string
  /** Similarity that a match must exceed, unless a person or the judge has confirmed it. */
  threshold: number
  /** Similarity from which on such a verdict counts; null: the project has only what exceeds the threshold. */
  judgeFloor: number | null
  /** Similarity above which verdicts have shown the undecided to be right often enough; null: none. */
  learnedThreshold: number | null
}

export function createCacheQuery(known: Omit<CacheQuery, 'exactKey' | 'callName' | 'semantic'>): CacheQuery {
  const { account, control, requestHash } = known
  const { project_id, cache_generation } = account
  const acceptable = `${control.threshold ?? ''}:${control.maxAgeSeconds ?? ''}`
  let semantic: SemanticQuery | MissReason | undefined
  return {
    ...known,
    exactKey: entryName(project_id, cache_generation, requestHash),
    callName: callName(project_id, cache_generation, `${requestHash}:${acceptable}`),
    semantic() {
      semantic ??= readSemanticQuery(known)
      return semantic
    },
  }
}

function readSemanticQuery({
  identity,
  account,
  control,
}: Pick<CacheQuery, 'identity' | 'account' | 'control'>): SemanticQuery | MissReason {
  if (account.semantic_mode === 'off') return 'off'
  // Where a number of the context may have been rounded, contexts cannot be compared; a large one would take long to hash.
  if (identity.source.hasInexactNumber || identity.source.isLarge) return 'no-candidate'
  const asked = takeAskedText(identity.endpoint, identity.body)
  if (!asked) return 'no-candidate'
  const contextHash = hashContext(identity, asked.contextBody)
  const reading = readAsked(asked, contextHash)
  if (!reading.isSemantic) return 'no-candidate'
  const bypass = account.semantic_policy === 'threshold' ? null : bypassReason(reading)
  if (bypass) return bypass
  return {
    reading,
    normalizedHash: sha256(reading.normalized),
    contextHash,
    threshold: control.threshold ?? account.semantic_threshold,
    judgeFloor: account.semantic_policy === 'judged' ? account.semantic_judge_floor : null,
    learnedThreshold: account.semantic_policy === 'judged' ? account.learned_threshold : null,
  }
}

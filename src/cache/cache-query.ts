/** What a request asks the cache: its hash and, if it may be matched semantically, its text. */
import { sha256 } from '../json/canonical.ts'
import type { Account } from '../postgres/admit.ts'
import { callName, entryName } from '../stores/fast-store.ts'
import type { PromptReading } from '../text/read-prompt.ts'
import { readAsked, takeAskedText } from './asked-text.ts'
import type { CacheControl } from './cache-control.ts'
import { hashContext, type RequestIdentity } from './exact-key.ts'
import type { MissReason } from './match.ts'
import { bypassReason } from './verify/bypass.ts'
import { isPlainQuestion, type SemanticRisk } from './verify/verify.ts'

export interface CacheQuery {
  account: Account
  control: CacheControl
  identity: RequestIdentity
  /** Hex SHA-256 of the whole request. */
  requestHash: string
  /** Name of the response to exactly this request in the fast store. */
  exactKey: string
  /** Name under which identical requests share a call: requests that would accept the same stored responses. */
  callName: string
  /** The model as the client asked for it. */
  model: string
  /** The semantic part of the query, or why there is none. Computed on the first call. */
  semantic(): SemanticQuery | MissReason
}

export interface SemanticQuery {
  /** The text that may be worded differently. */
  reading: PromptReading
  /** Hex SHA-256 of the text in normalized form. */
  normalizedHash: string
  /** Hex SHA-256 of everything else. */
  contextHash: string
  /** Similarity that a match must exceed, unless a person or the judge confirmed it. */
  threshold: number
  risk: SemanticRisk
  /** Whether a similar question may be served at all: if not, no vector is made, searched for or stored. */
  needsVector: boolean
  /** Lowest similarity at which a verdict counts; null when only matches above the threshold count. */
  judgeFloor: number | null
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
  // Contexts with a rounded number cannot be compared, and a large one would take long to hash.
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
    risk: account.semantic_risk,
    needsVector: maySimilarServe(account, reading),
    judgeFloor: account.semantic_policy === 'judged' ? account.semantic_judge_floor : null,
  }
}

/** Under `verified`, only a plain question is compared with others; under `proved`, none is. */
function maySimilarServe({ semantic_policy }: Account, reading: PromptReading): boolean {
  if (semantic_policy === 'proved') return false
  return semantic_policy !== 'verified' || isPlainQuestion(reading)
}

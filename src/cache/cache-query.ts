/** What the cache is asked: one request, by its hash and, where it may be matched by similarity, by its text. */

import { sha256 } from '../json/canonical.ts'
import { hasInexactNumber } from '../json/inexact-number.ts'
import type { Account } from '../postgres/admit.ts'
import { callName, entryName } from '../stores/fast-store.ts'
import { normalizePrompt } from '../text/normalize/normalize-prompt.ts'
import { takeAskedText } from './asked-text.ts'
import type { CacheControl } from './cache-control.ts'
import { hashContext, type RequestIdentity } from './exact-key.ts'
import { extractFeatures } from './guards/extract-features.ts'
import type { GuardFeatures } from './guards/guard.ts'
import { needsFreshAnswer } from './guards/needs-fresh-answer.ts'
import { numberKey } from './guards/number-key.ts'

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
  /** Null where only the exact request may match. Taken apart when it is first called. */
  semantic(): SemanticQuery | null
}

export interface SemanticQuery {
  /** As it was sent. */
  text: string
  /** What the guards compare; null where the project has them off. */
  features: GuardFeatures | null
  normalized: string
  /** Hex SHA-256 of the normalized text. */
  normalizedHash: string
  /** Hex SHA-256 of everything else, and of the numbers in the text where guards are on. */
  contextHash: string
}

export function createCacheQuery(known: Omit<CacheQuery, 'exactKey' | 'callName' | 'semantic'>): CacheQuery {
  const { account, control, requestHash } = known
  const { project_id, cache_generation } = account
  const acceptable = `${control.threshold ?? ''}:${control.maxAgeSeconds ?? ''}`
  let semantic: SemanticQuery | null | undefined
  return {
    ...known,
    exactKey: entryName(project_id, cache_generation, requestHash),
    callName: callName(project_id, cache_generation, `${requestHash}:${acceptable}`),
    semantic() {
      if (semantic === undefined) semantic = readSemanticQuery(known.identity, account)
      return semantic
    },
  }
}

/** Takes the request apart for a semantic lookup; null where there must be none. */
function readSemanticQuery(identity: RequestIdentity, account: Account): SemanticQuery | null {
  // Embeddings are never matched by similarity.
  if (!account.semantic_enabled || identity.endpoint === 'embeddings') return null
  // Where a number of the context may have been rounded, contexts cannot be compared.
  if (hasInexactNumber(identity.bodyText)) return null
  const asked = takeAskedText(identity.endpoint, identity.body)
  if (!asked) return null
  const features = account.semantic_guards ? extractFeatures(asked.text) : null
  // No guard would ever let such a question pass.
  if (features && (features.isAction || needsFreshAnswer(asked.text))) return null
  const normalized = normalizePrompt(asked.text)
  return {
    text: asked.text,
    features,
    normalized,
    normalizedHash: sha256(normalized),
    contextHash: hashContext(identity, asked.contextBody, features ? numberKey(features) : ''),
  }
}

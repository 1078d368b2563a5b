/** What is asked of the cache: one request, by its hash and, where it may be matched by similarity, by its text. */
import { hasInexactNumber } from '../json/inexact-number.ts'
import type { AdmitRow } from '../postgres/admit.ts'
import { entryName } from '../stores/fast-store.ts'
import { normalizePrompt } from '../text/normalize/normalize-prompt.ts'
import { takeAskedText } from './asked-text.ts'
import type { CacheControl } from './cache-control.ts'
import { hashContext, type RequestIdentity, sha256 } from './canonical.ts'
import { extractFeatures } from './guards/extract-features.ts'
import type { GuardFeatures } from './guards/guard.ts'
import { needsFreshAnswer } from './guards/needs-fresh-answer.ts'
import { numberKey } from './guards/number-key.ts'

export interface Question {
  account: AdmitRow
  control: CacheControl
  identity: RequestIdentity
  /** Hex SHA-256 of the whole request. */
  requestHash: string
  /** Under which the answer to exactly this request is kept in the fast store. */
  entryName: string
  /** The model as the client asked for it. */
  model: string
  /** Null where only the exact request may match. Taken apart when it is first called. */
  semantic(): SemanticQuestion | null
}

export interface SemanticQuestion {
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

export function createQuestion(known: Omit<Question, 'entryName' | 'semantic'>): Question {
  const { account, requestHash } = known
  let semantic: SemanticQuestion | null | undefined
  return {
    ...known,
    entryName: entryName(account.project_id, account.cache_generation, requestHash),
    semantic() {
      if (semantic === undefined) semantic = readSemanticQuestion(known.identity, account)
      return semantic
    },
  }
}

/** Takes the request apart for a semantic lookup; null where there must be none. */
function readSemanticQuestion(identity: RequestIdentity, account: AdmitRow): SemanticQuestion | null {
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

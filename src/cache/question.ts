/** What is asked of the cache: one request, by its hash and, where it may be matched by similarity, by its text. */
import { hasInexactNumber } from '../answers/inexact-number.ts'
import type { AdmitRow } from '../postgres/admit.ts'
import { takeAskedText } from './asked-text.ts'
import type { CacheControl } from './cache-control.ts'
import { hashContext, type RequestIdentity, sha256 } from './canonical.ts'
import { needsFreshAnswer } from './guards/needs-fresh-answer.ts'
import { normalizePrompt } from './normalize/normalize-prompt.ts'

export interface Question {
  account: AdmitRow
  control: CacheControl
  identity: RequestIdentity
  /** Hex SHA-256 of the whole request. */
  requestHash: string
  /** The model as the client asked for it. */
  model: string
  /** Null where only the exact request may match. */
  semantic: SemanticQuestion | null
}

export interface SemanticQuestion {
  /** As it was sent. */
  text: string
  normalized: string
  /** Hex SHA-256 of the normalized text. */
  normalizedHash: string
  /** Hex SHA-256 of everything else. */
  contextHash: string
}

/** Takes the request apart for a semantic lookup; null where there must be none. */
export function readSemanticQuestion(identity: RequestIdentity, account: AdmitRow): SemanticQuestion | null {
  if (!account.semantic_enabled) return null
  // Where a number of the context may have been rounded, contexts cannot be compared.
  if (hasInexactNumber(identity.bodyText)) return null
  const asked = takeAskedText(identity.endpoint, identity.body)
  if (!asked) return null
  if (account.semantic_guards && needsFreshAnswer(asked.text)) return null
  const normalized = normalizePrompt(asked.text)
  return {
    text: asked.text,
    normalized,
    normalizedHash: sha256(normalized),
    contextHash: hashContext(identity, asked.contextBody),
  }
}

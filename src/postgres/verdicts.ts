/** Calls the functions for verdicts about pairs of questions, and for the semantic hits that people can give feedback on. */
import type { Database } from './database.ts'
import { defineBatch, defineStatement, defineSweep, readOne, text } from './statement.ts'

/** A semantic hit, a hit in shadow mode, or a near miss. */
export interface SemanticHit {
  projectId: number
  requestId: string
  /** Hex SHA-256 of the normalized question. */
  askedHash: string
  /** `request_hash` of the entry, in hex. */
  entryHash: string
  reason: string
  /** For a near miss: the kind of difference that prevented a match. */
  difference: string | null
  /** The question, encrypted, in hex; null when the project stores none. */
  sealedWording: string | null
  similarity: number
  /** Whether the match was recorded but not served. */
  isShadow: boolean
  promptTokens: number
  completionTokens: number
  savedUsd: number
}

export const recordSemanticHits = defineBatch<SemanticHit>('record_semantic_hits', {
  projectId: 'bigint',
  requestId: 'text',
  askedHash: 'text',
  entryHash: 'text',
  reason: 'text',
  similarity: 'double precision',
  isShadow: 'boolean',
  promptTokens: 'integer',
  completionTokens: 'integer',
  savedUsd: 'numeric',
  difference: 'text',
  sealedWording: 'text',
})

const NOTE_FEEDBACK = defineStatement('select model_proxy.note_feedback($1::bigint, $2::text, $3::text) as outcome', {
  outcome: text<'noted' | 'unknown' | 'gone'>(),
})

/**
 * Stores a person's verdict on this request's semantic hit or near miss. `unknown`: there was none; `gone`: its entry is not stored any
 * more.
 */
export async function noteFeedback(
  database: Database,
  projectId: number,
  requestId: string,
  verdict: 'wrong' | 'right',
): Promise<'noted' | 'unknown' | 'gone'> {
  const { outcome } = await readOne(database, NOTE_FEEDBACK, [projectId, requestId, verdict])
  return outcome
}

/** Deletes verdicts and hits that are not needed any more. */
export const forgetVerdicts = defineSweep('forget_verdicts')

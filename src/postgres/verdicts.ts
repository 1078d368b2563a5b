/** Calls the functions for verdicts about pairs of questions, and for the semantic hits that people can give feedback on. */
import type { Database } from './database.ts'
import { defineStatement, integer, nothing, readOne, runStatement, text, toColumns } from './statement.ts'

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
  /** The question, encrypted; null when the project stores none. */
  sealedWording: Uint8Array | null
  similarity: number
  /** Whether the match was recorded but not served. */
  isShadow: boolean
  promptTokens: number
  completionTokens: number
  savedUsd: number
}

const RECORD_HITS = defineStatement(
  `select record_semantic_hits(
  $1::bigint[],
  $2::text[],
  $3::text[],
  $4::text[],
  $5::text[],
  $6::double precision[],
  $7::boolean[],
  $8::integer[],
  $9::integer[],
  $10::numeric[],
  $11::text[],
  $12::text[]
) as done`,
  { done: nothing },
)
/** The first parameters, which need no conversion. */
const RECORDED = [
  'projectId',
  'requestId',
  'askedHash',
  'entryHash',
  'reason',
  'similarity',
  'isShadow',
  'promptTokens',
  'completionTokens',
  'savedUsd',
] as const satisfies (keyof SemanticHit)[]
const NOTE_FEEDBACK = defineStatement('select note_feedback($1::bigint, $2::text, $3::text) as outcome', {
  outcome: text<'noted' | 'unknown' | 'gone'>(),
})
const FORGET_VERDICTS = defineStatement('select forget_verdicts($1::integer) as forgotten', { forgotten: integer })

export async function recordSemanticHits(database: Database, hits: readonly SemanticHit[]): Promise<void> {
  await runStatement(database, RECORD_HITS, [
    ...toColumns(hits, RECORDED),
    hits.map(hit => hit.difference),
    hits.map(hit => hit.sealedWording && Buffer.from(hit.sealedWording).toString('hex')),
  ])
}

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

/** Deletes at most `atMost` verdicts and hits that are not needed any more; returns how many. */
export async function forgetVerdicts(database: Database, atMost: number): Promise<number> {
  const { forgotten } = await readOne(database, FORGET_VERDICTS, [atMost])
  return forgotten
}

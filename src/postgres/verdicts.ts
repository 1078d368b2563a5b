/** Calls what keeps verdicts about pairs of questions, and the semantic hits that people may speak of. */
import type { Database } from './database.ts'
import type { Exchange } from './equivalences.ts'
import { defineStatement, integer, nothing, readOne, runStatement, text, toColumns } from './statement.ts'

/** A request that was answered from the cache though worded differently, would have been, or nearly was. */
export interface SemanticHit {
  projectId: number
  requestId: string
  /** Hex SHA-256 of the normalized question. */
  askedHash: string
  /** `request_hash` of the entry, in hex. */
  entryHash: string
  reason: string
  /** Of one that was not served: the kind of difference that stood in the way. */
  difference: string | null
  /** The question, sealed; null where the project keeps none. */
  sealedWording: Uint8Array | null
  similarity: number
  /** Whether it was only recorded. */
  isShadow: boolean
  promptTokens: number
  completionTokens: number
  savedUsd: number
  /** The one exchange of words between the two questions; null: there is none, or more. */
  exchange: Exchange | null
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
  $12::text[],
  $13::text[]
) as done`,
  { done: nothing },
)
/** The first of its parameters: those that go as they are. */
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
const LEARN_THRESHOLDS = defineStatement('select learn_thresholds() as done', { done: nothing })
const FORGET_VERDICTS = defineStatement('select forget_verdicts($1::integer) as forgotten', { forgotten: integer })

export async function recordSemanticHits(database: Database, hits: readonly SemanticHit[]): Promise<void> {
  await runStatement(database, RECORD_HITS, [
    ...toColumns(hits, RECORDED),
    hits.map(hit => hit.exchange && JSON.stringify(hit.exchange)),
    hits.map(hit => hit.difference),
    hits.map(hit => hit.sealedWording && Buffer.from(hit.sealedWording).toString('hex')),
  ])
}

/** A person's verdict on the semantic hit, or near miss, of this request. `unknown`: there was none; `gone`: its entry is not kept any more. */
export async function noteFeedback(
  database: Database,
  projectId: number,
  requestId: string,
  verdict: 'wrong' | 'right',
): Promise<'noted' | 'unknown' | 'gone'> {
  const { outcome } = await readOne(database, NOTE_FEEDBACK, [projectId, requestId, verdict])
  return outcome
}

/** Finds anew from which similarity on each project may serve what nobody has decided. */
export async function learnThresholds(database: Database): Promise<void> {
  await runStatement(database, LEARN_THRESHOLDS)
}

/** Deletes at most so many of what nobody needs any more; returns how many went. */
export async function forgetVerdicts(database: Database, atMost: number): Promise<number> {
  const { forgotten } = await readOne(database, FORGET_VERDICTS, [atMost])
  return forgotten
}

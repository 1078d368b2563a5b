/** Calls what keeps a judge within its budget, and what it said. */
import type { Database } from './database.ts'
import type { Exchange } from './equivalences.ts'
import { date, defineStatement, nothing, nullable, readOne, runStatement } from './statement.ts'

export interface JudgementToSettle {
  projectId: number
  /** As it was reserved on. */
  day: string
  /** What it cost less what was reserved. */
  correctionUsd: number
  /** Null: there was none. */
  verdict: 'same' | 'different' | null
  /** Hex SHA-256 of what the questions share, and of each as proof writes it. */
  contextHash: string
  askedHash: string
  entryHash: string
  /** When the entry expires. */
  until: Date
  /** Null: of no use to calibration. */
  similarity: number | null
  /** The kind of difference that stood in the way of proof; null: none did. */
  difference: string | null
  /** review: of a hit that was served before. */
  source: 'judge' | 'review'
  /** The one exchange of words that the verdict speaks of; null: of none. */
  exchange: Exchange | null
  /** The pair's id, where it waited in the queue. */
  queuedId: number | null
}

const RESERVE = defineStatement('select reserve_judgement($1::bigint, $2::numeric) as day', { day: nullable(date) })
const SETTLE = defineStatement(
  `select settle_judgement(
  $1::bigint,
  $2::date,
  $3::numeric,
  decode($4, 'hex'),
  decode($5, 'hex'),
  decode($6, 'hex'),
  $7::text,
  $8::timestamptz,
  $9::double precision,
  $10::text,
  $11::text,
  $12::jsonb,
  $13::bigint
) as done`,
  { done: nothing },
)

/** The day (`YYYY-MM-DD`) of whose budget it was taken; null where that is used up. */
export async function reserveJudgement(database: Database, projectId: number, usd: number): Promise<string | null> {
  const { day } = await readOne(database, RESERVE, [projectId, usd])
  return day
}

export async function settleJudgement(database: Database, judgement: JudgementToSettle): Promise<void> {
  await runStatement(database, SETTLE, [
    judgement.projectId,
    judgement.day,
    judgement.correctionUsd,
    judgement.contextHash,
    judgement.askedHash,
    judgement.entryHash,
    judgement.verdict,
    judgement.until.toISOString(),
    judgement.similarity,
    judgement.difference,
    judgement.source,
    judgement.exchange && JSON.stringify(judgement.exchange),
    judgement.queuedId,
  ])
}

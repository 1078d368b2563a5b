/** Calls the functions for a judge's budget and its verdicts. */
import type { Database } from './database.ts'
import { date, defineStatement, nothing, nullable, readOne, runStatement } from './statement.ts'

export interface JudgementToSettle {
  projectId: number
  /** The day of the reservation. */
  day: string
  /** The actual cost less what was reserved. */
  correctionUsd: number
  /** Null when there is none. */
  verdict: 'same' | 'different' | null
  /** Hex SHA-256 of the shared context, and of each question in normalized form. */
  contextHash: string
  askedHash: string
  entryHash: string
  /** When the entry expires. */
  until: Date
  /** Null when it is of no use for calibration. */
  similarity: number | null
  /** The kind of difference that prevented proof; null when nothing did. */
  difference: string | null
  /** review: the judge's verdict about a hit that had been served. */
  source: 'judge' | 'review'
  /** The pair's id, if it was queued. */
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
  $12::bigint
) as done`,
  { done: nothing },
)

/** Returns the day (`YYYY-MM-DD`) whose budget was charged; null when that budget is used up. */
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
    judgement.queuedId,
  ])
}

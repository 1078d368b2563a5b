/** What is recorded about a request, as the database keeps it. */
import type { Static } from '@sinclair/typebox'
import type { USAGE_RECORD_COLUMNS } from './usage-record.generated.ts'

type Columns = { [Name in keyof typeof USAGE_RECORD_COLUMNS]: Static<(typeof USAGE_RECORD_COLUMNS)[Name]> }

/** The nullable columns of a record. Those that do not apply are omitted. */
export type RecordDetails = {
  -readonly [Name in keyof Columns as null extends Columns[Name] ? Name : never]?: Columns[Name]
}

/** One answered, refused or failed request: a row of usage_records, whose comments say what its columns are. */
export type UsageRecord = RecordDetails & {
  [Name in keyof Columns as null extends Columns[Name] ? never : Name]: Columns[Name]
} & {
  /** What it took of budgets, model by model. No column. */
  spent?: CostPart[]
}

/** A row as it is read. */
export type UsageRecordRow = Columns

export interface CostPart {
  /** Under which it was reserved; null: it was not. */
  id: string | null
  model: string
  usd: number
  tokens: number
  /** What it may have cost beyond that, which stays reserved; by default nothing. More than was reserved counts as that. */
  doubtful_usd?: number
  doubtful_tokens?: number
}

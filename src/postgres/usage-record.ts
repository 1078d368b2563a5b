/** The usage record of a request, as the database stores it. */
import type { Static } from '@sinclair/typebox'
import type { USAGE_RECORD_COLUMNS } from './usage-record.generated.ts'

type Columns = { [Name in keyof typeof USAGE_RECORD_COLUMNS]: Static<(typeof USAGE_RECORD_COLUMNS)[Name]> }

/** The nullable columns of a record. Those that do not apply are omitted. */
export type RecordDetails = {
  -readonly [Name in keyof Columns as null extends Columns[Name] ? Name : never]?: Columns[Name]
}

/** A row of usage_records: one answered, rejected or failed request. The comments on the table describe its columns. */
export type UsageRecord = RecordDetails & {
  [Name in keyof Columns as null extends Columns[Name] ? never : Name]: Columns[Name]
} & {
  /** The charges to budgets, model by model. It is not a column. */
  spent?: CostPart[]
}

/** A row as the database returns it. */
export type UsageRecordRow = Columns

/** An attempt of a request. Its kind is null if the provider responded, its key if it has no name, its status if there was no response. */
export type Attempt = NonNullable<Columns['attempt_list']>[number]

export interface CostPart {
  /** The id of the reservation; null if nothing was reserved. */
  id: string | null
  model: string
  usd: number
  tokens: number
  /** Further cost that is possible but unconfirmed. It stays reserved, up to the amount of the reservation; 0 by default. */
  doubtful_usd?: number
  doubtful_tokens?: number
}

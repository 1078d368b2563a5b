/** Calls admit(): validates keys and reserves requests against their months. */
import type { Selectable } from 'kysely'
import type { Database } from './database.ts'
import { date, defineStatement, integer, runStatement, type Statement, text } from './statement.ts'
import type { KeyAccounts } from './types.generated.ts'

export interface AdmitAsk {
  /** Hex SHA-256 of the key. */
  keyHash: string
  /** Requests to reserve; 0 validates alone. */
  wanted: number
}

/** A batch that may be sent again when its answer is lost: it reserves once. A slot has one batch under way at a time. */
export interface AdmitBatch {
  /** A UUID. */
  slot: string
  /** Counted up with every batch of the slot. */
  sequence: number
}

/** Columns of the view that may be null; a test compares. */
type NullableColumn = never

/** Columns of the view that hold one of a few words: checks of the tables see to that. */
interface WordColumns {
  key_type: 'project' | 'test'
  semantic_mode: 'on' | 'shadow' | 'off'
  semantic_policy: 'proved' | 'judged' | 'threshold'
  semantic_judge: 'off' | 'inline'
  cache_mode: 'all' | 'deterministic' | 'off'
  log_content: 'off' | 'sealed'
}

/** Each column of the view key_accounts once. */
type KeyAccount = {
  [Name in Exclude<keyof KeyAccounts, 'verdict' | keyof WordColumns>]: Name extends NullableColumn
    ? Selectable<KeyAccounts>[Name]
    : NonNullable<Selectable<KeyAccounts>[Name]>
} & WordColumns

/** What admit() says of a key that was issued once. */
export interface AdmitRow extends KeyAccount {
  verdict: 'active' | 'expired' | 'disabled'
  /** Requests reserved; fewer than wanted when the month's quota is used up. */
  granted: number
  /** First day of the month that was counted in, `YYYY-MM-DD`. */
  month: string
}

/** What it says of any other: there is no account. */
export interface UnknownKey {
  verdict: 'unknown'
  granted: 0
  month: string
}

export type AdmitReply = AdmitRow | UnknownKey

// The account first: what is said of a key without one stands, rather than its null.
const ADMIT = defineStatement(
  `select (a.account).*, a.ordinal, a.verdict, a.granted, a.month
  from admit($1::text[], $2::integer[], $3::uuid, $4::bigint) a`,
  { ordinal: integer, verdict: text(), granted: integer, month: date },
) as Statement<AdmitReply>

/** One row for each ask, in order; the asked keys must be distinct. Without a batch, what is lost may have been reserved. */
export function admit(
  database: Database,
  asks: readonly AdmitAsk[],
  batch: AdmitBatch | null = null,
): Promise<AdmitReply[]> {
  const hashes = asks.map(ask => ask.keyHash)
  const wanted = asks.map(ask => ask.wanted)
  return runStatement(database, ADMIT, [hashes, wanted, batch?.slot ?? null, batch?.sequence ?? null])
}

/** Whose a request is: key, project, limits and settings, as the database had them when it was last asked. */
export type Account = AdmitRow

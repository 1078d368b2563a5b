/** Calls admit(): validates keys and reserves requests against their months. */
import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database } from './database.ts'
import { date, defineStatement, integer, nullable, runStatement, text } from './statement.ts'
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
type NullableColumn = 'allowed_models'

/** Columns of the view that hold one of a few words: checks of the tables see to that. */
interface WordColumns {
  key_type: 'project' | 'test'
  semantic_mode: 'on' | 'shadow' | 'off'
  semantic_policy: 'proved' | 'judged' | 'threshold'
  semantic_judge: 'off' | 'learn' | 'inline'
  cache_mode: 'all' | 'deterministic' | 'off'
  log_content: 'off' | 'sealed'
}

/** Each column of the view key_accounts once, but for the hash that was asked by. */
type KeyAccount = {
  [Name in Exclude<keyof KeyAccounts, 'verdict' | 'key_hash' | keyof WordColumns>]: Name extends NullableColumn
    ? Selectable<KeyAccounts>[Name]
    : NonNullable<Selectable<KeyAccounts>[Name]>
} & WordColumns

/** Whose a request is: key, project, limits and settings, as the database had them when it was last asked. */
export interface Account extends Readonly<KeyAccount> {
  readonly verdict: 'active' | 'expired' | 'disabled'
  /** First day of the month that was counted in, `YYYY-MM-DD`. */
  readonly month: string
}

/** Of a key that was never issued. */
export interface UnknownKey {
  readonly verdict: 'unknown'
}

export interface AdmitReply {
  account: Account | UnknownKey
  /** Requests reserved; fewer than wanted when the month's quota is used up. */
  granted: number
}

// The account as one text: nearly every batch says of a key what the one before did, and thirty columns would be read each time.
const ADMIT = defineStatement(
  `select a.ordinal, a.granted, a.month, to_json(a.account)::text as account
  from admit($1::text[], $2::integer[], $3::uuid, $4::bigint) a`,
  { ordinal: integer, granted: integer, month: date, account: nullable(text()) },
)

const UNKNOWN_KEY: UnknownKey = { verdict: 'unknown' }
const MAX_REMEMBERED = 5_000
const accounts = new LRUCache<string, Account>({ max: MAX_REMEMBERED })

/** One reply for each ask, in order; the asked keys must be distinct. Without a batch, what is lost may have been reserved. */
export async function admit(
  database: Database,
  asks: readonly AdmitAsk[],
  batch: AdmitBatch | null = null,
): Promise<AdmitReply[]> {
  const hashes = asks.map(ask => ask.keyHash)
  const wanted = asks.map(ask => ask.wanted)
  const rows = await runStatement(database, ADMIT, [hashes, wanted, batch?.slot ?? null, batch?.sequence ?? null])
  return rows.map(({ account, granted, month }) => ({ account: readAccount(account, month), granted }))
}

/** The same text is the same object: whoever has seen it need not compare what stands in it. */
function readAccount(text: string | null, month: string): Account | UnknownKey {
  if (text === null) return UNKNOWN_KEY
  const name = month + text
  let account = accounts.get(name)
  if (!account) {
    account = { ...JSON.parse(text), month } as Account
    accounts.set(name, account)
  }
  return account
}

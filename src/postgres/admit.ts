/** Calls admission's functions: keys are validated, requests reserved against their months, and given back. */

import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database } from './database.ts'
import { date, defineStatement, integer, nothing, nullable, runStatement, text, toColumns } from './statement.ts'
import type { KeyAccounts } from './types.generated.ts'

export interface AdmitAsk {
  /** Hex SHA-256 of the key. */
  keyHash: string
  /** Number of requests to reserve; 0 only validates the key. */
  wanted: number
}

/** A batch that may be sent again when its reply is lost: it reserves once. A slot has at most one batch in flight. */
export interface AdmitBatch {
  /** A UUID. */
  slot: string
  /** Incremented with every batch of the slot. */
  sequence: number
}

/** The view's nullable columns; a test compares them with the database. */
type NullableColumn = 'allowed_models'

/** The view's columns with a fixed set of words, enforced by checks on the tables and by setting_kinds. */
interface WordColumns {
  key_type: 'project' | 'test'
  semantic_mode: 'on' | 'shadow' | 'off'
  semantic_policy: 'verified' | 'proved' | 'judged' | 'threshold'
  semantic_risk: 'careful' | 'balanced' | 'generous'
  semantic_judge: 'off' | 'learn' | 'inline'
  cache_mode: 'all' | 'deterministic' | 'off'
  log_content: 'off' | 'sealed'
  when_exhausted: 'serve_cache' | 'refuse'
}

/** Every column of the view key_accounts, except for the key's hash. */
type KeyAccount = {
  [Name in Exclude<keyof KeyAccounts, 'verdict' | 'key_hash' | keyof WordColumns>]: Name extends NullableColumn
    ? Selectable<KeyAccounts>[Name]
    : NonNullable<Selectable<KeyAccounts>[Name]>
} & WordColumns

/** Key, project, limits and settings of a request, as the database last returned them. */
export interface Account extends Readonly<KeyAccount> {
  readonly verdict: 'active' | 'expired' | 'disabled'
  /** First day of the month that counts the request, `YYYY-MM-DD`. */
  readonly month: string
}

/** The reply for a key that was never issued. */
export interface UnknownKey {
  readonly verdict: 'unknown'
}

export interface AdmitReply {
  account: Account | UnknownKey
  /** Requests reserved; fewer than wanted when the month's quota is used up. */
  granted: number
}

// The account is fetched as one text: it rarely changes between batches, and then its thirty columns need no parsing.
const ADMIT = defineStatement(
  `select a.ordinal, a.granted, a.month, to_json(a.account)::text as account
  from admit($1::text[], $2::integer[], $3::uuid, $4::bigint) a`,
  { ordinal: integer, granted: integer, month: date, account: nullable(text()) },
)

const UNKNOWN_KEY: UnknownKey = { verdict: 'unknown' }
const MAX_REMEMBERED = 5_000
const accounts = new LRUCache<string, Account>({ max: MAX_REMEMBERED })

/**
 * Returns one reply for each ask, in order; the asked keys must be distinct. Without a batch, requests may stay reserved if the reply is
 * lost.
 */
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

/** The same text gives the same object, so that callers can compare accounts by identity. */
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

const FIND_LOCKED = defineStatement('select ordinal from find_locked_counters($1::text[])', { ordinal: integer })

/** Returns those keys whose project's counter another transaction has locked. Does not wait for locks. */
export async function findLockedCounters(database: Database, keyHashes: readonly string[]): Promise<Set<string>> {
  const rows = await runStatement(database, FIND_LOCKED, [keyHashes])
  return new Set(rows.flatMap(({ ordinal }) => keyHashes[ordinal - 1] ?? []))
}

export interface Refund {
  projectId: number
  keyType: 'project' | 'test'
  /** The month they were reserved in, `YYYY-MM-DD`. */
  month: string
  requests: number
}

const REFUND_REQUESTS = defineStatement(
  'select refund_requests($1::bigint[], $2::text[], $3::date[], $4::integer[], $5::uuid) as done',
  { done: nothing },
)

/** Idempotent: refunds with the same `batch`, a UUID, are applied once. */
export async function refundRequests(database: Database, refunds: readonly Refund[], batch: string): Promise<void> {
  const columns = toColumns(refunds, ['projectId', 'keyType', 'month', 'requests'])
  await runStatement(database, REFUND_REQUESTS, [...columns, batch])
}

/** Calls admission's functions: keys are validated, requests reserved against their months, and given back. */

import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import { AnswerLost, type Database } from './database.ts'
import {
  bigint,
  boolean,
  date,
  defineStatement,
  integer,
  nothing,
  nullable,
  runStatement,
  text,
  toColumns,
} from './statement.ts'
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
type NullableColumn =
  | 'allowed_models'
  | 'key_allowed_models'
  | 'allowed_addresses'
  | 'aliases'
  | 'named_provider_keys'
  | 'tokens_per_minute'
  | 'minute_counted_until'

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
  unsupported_tools: 'drop' | 'refuse'
  anthropic_cache_marks: 'off' | 'on'
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

/** A counter that is locked for longer delays a batch no further. */
const LEAST_PATIENCE_MS = 40

// An account is fetched when it has changed, and as one text: its thirty columns cost more than admission itself.
const ADMIT = defineStatement(
  `select a.ordinal, a.granted, a.month, a.account_version as version, to_json(a.account)::text as account, a.near_end as "isNearEnd"
  from model_proxy.admit($1::text[], $2::integer[], $3::uuid, $4::bigint, $5::text[], $6::boolean, $7::integer) a`,
  {
    ordinal: integer,
    granted: integer,
    month: date,
    version: nullable(text()),
    account: nullable(text()),
    isNearEnd: boolean,
  },
)

// What was committed before is on disk when this is. Without a row, a server that crashed, or was left behind, took the count with it.
const REACH_DISK = defineStatement(
  `select set_config('synchronous_commit', 'on', true) as durability, pg_logical_emit_message(true, 'model-proxy', '')::text as place
  from model_proxy.admission_slots where slot = $1::uuid and batch = $2::bigint`,
  { durability: text(), place: text() },
)

interface Known {
  version: string
  text: string
  account: Account
}

const UNKNOWN_KEY: UnknownKey = { verdict: 'unknown' }
const MAX_KNOWN = 5_000
/** Versions are ids of transactions, which a database that is restored from a backup gives again: nothing is known for longer. */
const KNOWN_FOR_MS = 60_000
/** By database, then by key. */
const knownAccounts = new WeakMap<Database, LRUCache<string, Known>>()

/**
 * Returns one reply for each ask, in order; the asked keys must be distinct. Without a batch, requests may stay reserved if the reply is
 * lost. Near a month's end it returns when the count is on disk.
 */
export async function admit(
  database: Database,
  asks: readonly AdmitAsk[],
  batch: AdmitBatch | null = null,
  patienceMs = LEAST_PATIENCE_MS,
): Promise<AdmitReply[]> {
  const known = knownOf(database)
  const found = asks.map(({ keyHash }) => known.get(keyHash))
  const hashes = asks.map(ask => ask.keyHash)
  const wanted = asks.map(ask => ask.wanted)
  const versions = found.map(each => each?.version ?? null)
  const sent = [hashes, wanted, batch?.slot ?? null, batch?.sequence ?? null, versions, batch === null, patienceMs]
  const rows = await runStatement(database, ADMIT, sent)
  if (batch && rows.some(({ granted, isNearEnd }) => granted > 0 && isNearEnd)) await reachDisk(database, batch)
  return rows.map((row, i) => ({
    account: noteAccount(known, hashes[i] ?? '', found[i], row),
    granted: row.granted,
  }))
}

/** Nobody may be admitted by a count that a crash would undo, though it may be there. */
async function reachDisk(database: Database, { slot, sequence }: AdmitBatch): Promise<void> {
  const rows = await runStatement(database, REACH_DISK, [slot, sequence]).catch(cause => {
    throw new AnswerLost(cause)
  })
  if (rows.length === 0) throw new AnswerLost('the server has lost the batch')
}

function knownOf(database: Database): LRUCache<string, Known> {
  let known = knownAccounts.get(database)
  if (!known) {
    known = new LRUCache({ max: MAX_KNOWN, ttl: KNOWN_FOR_MS, ttlResolution: 1_000 })
    knownAccounts.set(database, known)
  }
  return known
}

/** The same text gives the same object, so that callers can compare accounts by identity. */
function noteAccount(
  known: LRUCache<string, Known>,
  keyHash: string,
  before: Known | undefined,
  { version, account: changed, month }: { version: string | null; account: string | null; month: string },
): Account | UnknownKey {
  if (version === null) return UNKNOWN_KEY
  const sameMonth = before?.account.month === month
  if (before && sameMonth && before.version === version) return before.account
  const text = changed ?? before?.text
  if (text === undefined) throw new Error('admit() left out an account')
  const account: Account = before && sameMonth && before.text === text ? before.account : { ...JSON.parse(text), month }
  known.set(keyHash, { version, text, account })
  return account
}

const FIND_LOCKED = defineStatement(
  `select l.ordinal, max(c.requests) as requests
  from model_proxy.find_locked_counters($1::text[]) l
  join model_proxy.api_keys k on k.key_hash = decode(($1::text[])[l.ordinal], 'hex')
  left join model_proxy.monthly_counters c on c.project_id = k.project_id and c.key_type = k.type and c.month = model_proxy.current_month()
  group by l.ordinal`,
  { ordinal: integer, requests: nullable(bigint) },
)

/**
 * Returns those keys whose project's counter another transaction has locked, and where the counter stands: if it moves, it is only asked for
 * by many. Does not wait for locks.
 */
export async function findLockedCounters(
  database: Database,
  keyHashes: readonly string[],
): Promise<Map<string, number | null>> {
  const rows = await runStatement(database, FIND_LOCKED, [keyHashes])
  return new Map(rows.map(({ ordinal, requests }) => [keyHashes[ordinal - 1] ?? '', requests]))
}

export interface Refund {
  projectId: number
  keyType: 'project' | 'test'
  /** The month they were reserved in, `YYYY-MM-DD`. */
  month: string
  requests: number
}

const REFUND_REQUESTS = defineStatement(
  'select model_proxy.refund_requests($1::bigint[], $2::text[], $3::date[], $4::integer[], $5::uuid) as done',
  { done: nothing },
)

/** Idempotent: refunds with the same `batch`, a UUID, are applied once. */
export async function refundRequests(database: Database, refunds: readonly Refund[], batch: string): Promise<void> {
  const columns = toColumns(refunds, ['projectId', 'keyType', 'month', 'requests'])
  await runStatement(database, REFUND_REQUESTS, [...columns, batch])
}

export interface MinuteAsk {
  projectId: number
  keyId: number
  requests: number
  limit: number
  /** By the clock of Redis. */
  second: number
  /** What Redis has counted in each second up to that one, this batch included; null without Redis. */
  inRedis: readonly number[] | null
}

const COUNT_MINUTE = defineStatement(
  `select m.granted, m.wait_seconds as wait
  from model_proxy.count_minute($1::bigint, $2::bigint, $3::integer, $4::integer, $5::bigint, $6::integer[], $7::boolean) m`,
  { granted: integer, wait: integer },
)

/** How many of a key's requests may pass while a process admits some without Redis; else the seconds until one might. */
export async function countMinute(
  database: Database,
  { projectId, keyId, requests, limit, second, inRedis }: MinuteAsk,
): Promise<{ granted: number; wait: number }> {
  const sent = [projectId, keyId, requests, limit, second, inRedis ?? [], inRedis === null]
  const [row] = await runStatement(database, COUNT_MINUTE, sent)
  if (!row) throw new Error('count_minute() returned nothing')
  return row
}

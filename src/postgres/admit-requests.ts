/** Calls admission's functions: keys are validated, requests reserved against their months, and given back. */

import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import { callFunction, type RowOf } from './call.ts'
import { type Database, ReplyLost } from './database.ts'
import type { ProjectSettings, ResolvedKeys } from './types.generated.ts'

export interface AdmissionRequest {
  /** Hex SHA-256 of the key. */
  keyHash: string
  /** Number of requests to reserve; 0 only validates the key. */
  requests: number
}

/** A batch that may be sent again when its reply is lost: it reserves once. A slot has at most one batch in flight. */
export interface AdmissionBatch {
  /** A UUID. */
  slot: string
  /** Incremented with every batch of the slot. */
  sequence: number
}

/** Every column of the view resolved_keys, except for the key's hash; in place of `settings`, each of them. */
type KeyAccount = Omit<Selectable<ResolvedKeys>, 'verdict' | 'key_hash' | 'key_type' | 'settings'> & ProjectSettings

/** Key, project, limits and settings of a request, as the database last returned them. */
export interface ResolvedKey extends Readonly<KeyAccount> {
  readonly key_type: 'project' | 'test'
  readonly verdict: 'active' | 'expired' | 'disabled'
  /** First day of the month that counts the request, `YYYY-MM-DD`. */
  readonly month: string
}

/** The reply for a key that was never issued. */
export interface UnknownKey {
  readonly verdict: 'unknown'
}

export interface AdmissionReply {
  resolvedKey: ResolvedKey | UnknownKey
  /** Requests reserved; fewer than wanted when the month's quota is used up. */
  granted: number
}

/** A counter that is locked for longer delays a batch no further. */
const LEAST_PATIENCE_MS = 40

// What was committed before is on disk when this is. Without a row, a server that crashed, or was left behind, took the count with it.
const REACH_DISK = `
select set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'model-proxy', '')
from model_proxy.admission_slots where slot = $1::uuid and batch = $2::bigint`

interface Known {
  version: string
  text: string
  resolvedKey: ResolvedKey
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
export async function admitRequests(
  database: Database,
  asks: readonly AdmissionRequest[],
  batch: AdmissionBatch | null = null,
  patienceMs = LEAST_PATIENCE_MS,
): Promise<AdmissionReply[]> {
  const known = knownOf(database)
  const found = asks.map(({ keyHash }) => known.get(keyHash))
  const hashes = asks.map(ask => ask.keyHash)
  const rows = await callFunction(database, 'admit', {
    key_hashes: hashes,
    wanted: asks.map(ask => ask.requests),
    in_slot: batch?.slot ?? null,
    this_batch: batch?.sequence ?? null,
    known_versions: found.map(each => each?.version ?? null),
    commits_on_disk: batch === null,
    patience_ms: patienceMs,
  })
  if (batch && rows.some(({ granted, near_end }) => granted > 0 && near_end)) await reachDisk(database, batch)
  return rows.map((row, i) => ({
    resolvedKey: noteAccount(known, hashes[i] ?? '', found[i], row),
    granted: row.granted,
  }))
}

/** Nobody may be admitted by a count that a crash would undo, though it may be there. */
async function reachDisk(database: Database, { slot, sequence }: AdmissionBatch): Promise<void> {
  const rows = await database.call(REACH_DISK, [slot, sequence]).catch(cause => {
    throw new ReplyLost(cause)
  })
  if (rows.length === 0) throw new ReplyLost('the server has lost the batch')
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
  { key_version: version, account: changed, month }: RowOf<'admit'>,
): ResolvedKey | UnknownKey {
  if (version === null) return UNKNOWN_KEY
  const sameMonth = before?.resolvedKey.month === month
  if (before && sameMonth && before.version === version) return before.resolvedKey
  const text = changed ?? before?.text
  if (text === undefined) throw new Error('admit() left out an account')
  const account = before && sameMonth && before.text === text ? before.resolvedKey : readAccount(text, month)
  known.set(keyHash, { version, text, resolvedKey: account })
  return account
}

function readAccount(text: string, month: string): ResolvedKey {
  const { settings, ...columns } = JSON.parse(text)
  return { ...settings, ...columns, month }
}

/** Those keys whose project's counter another transaction has locked, and where the counter stands. */
export async function findLockedCounters(
  database: Database,
  keyHashes: readonly string[],
): Promise<Map<string, number>> {
  const rows = await callFunction(database, 'find_locked_counters', { key_hashes: keyHashes })
  return new Map(rows.map(({ ordinal, requests }) => [keyHashes[ordinal - 1] ?? '', requests]))
}

export interface QuotaRefund {
  projectId: number
  keyType: 'project' | 'test'
  /** The month they were reserved in, `YYYY-MM-DD`. */
  month: string
  requests: number
}

/** Idempotent: refunds with the same `batch`, a UUID, are applied once. */
export async function refundRequests(
  database: Database,
  refunds: readonly QuotaRefund[],
  batch: string,
): Promise<void> {
  await callFunction(database, 'refund_requests', {
    project_ids: refunds.map(refund => refund.projectId),
    key_types: refunds.map(refund => refund.keyType),
    months: refunds.map(refund => refund.month),
    counts: refunds.map(refund => refund.requests),
    batch,
  })
}

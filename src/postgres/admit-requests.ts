/** Calls the SQL functions of admission: they validate keys, reserve requests of monthly quotas, and refund them. */

import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import { callFunction, type RowOf } from './call.ts'
import { type Database, ReplyLost } from './database.ts'
import type { ProjectSettings, ResolvedKeys } from './types.generated.ts'

export interface AdmissionRequest {
  /** Hex SHA-256 of the key. */
  keyHash: string
  /** The number of requests to reserve; 0 only validates the key. */
  requests: number
}

/** Identifies a batch, so that it reserves once even if it is resent after a lost reply. A slot has at most one batch in flight. */
export interface AdmissionBatch {
  /** A UUID. */
  slot: string
  /** Incremented with every batch of the slot. */
  sequence: number
}

/** The columns of the view resolved_keys without the key's hash. Each setting is a field of its own in place of `settings`. */
type KeyColumns = Omit<Selectable<ResolvedKeys>, 'verdict' | 'key_hash' | 'key_type' | 'settings'> & ProjectSettings

/** The key, project, limits and settings of a request, as the database last returned them. */
export interface ResolvedKey extends Readonly<KeyColumns> {
  readonly key_type: 'project' | 'test'
  readonly verdict: 'active' | 'expired' | 'disabled'
  /** The first day of the month whose quota counts the request, `YYYY-MM-DD`. */
  readonly month: string
}

/** The reply for a key that was never issued. */
export interface UnknownKey {
  readonly verdict: 'unknown'
}

export interface AdmissionReply {
  resolvedKey: ResolvedKey | UnknownKey
  /** The number of requests reserved. It is lower than requested when the month's quota is used up. */
  granted: number
}

/** The time that a batch waits for locked counters. */
const DEFAULT_LOCK_WAIT_MS = 40

// A synchronous commit flushes all earlier commits to disk. If no row is returned, the server crashed or was replaced, and lost the count.
const FLUSH_BATCH = `
select set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'model-proxy', '')
from model_proxy.admission_slots where slot = $1::uuid and batch = $2::bigint`

interface CachedKey {
  version: string
  text: string
  resolvedKey: ResolvedKey
}

const UNKNOWN_KEY: UnknownKey = { verdict: 'unknown' }
const MAX_CACHED_KEYS = 5_000
/** Versions are transaction ids, which a database restored from a backup assigns again. Cached keys therefore expire. */
const CACHED_KEY_TTL_MS = 60_000
/** Cached keys, by database and hash of the key. */
const cachedKeys = new WeakMap<Database, LRUCache<string, CachedKey>>()

/**
 * Reserves requests. Returns one reply for each admission request, in order; their keys must be distinct. Without a batch, requests may
 * stay reserved if the reply is lost. Near the end of a monthly quota, resolves once the count is on disk.
 */
export async function admitRequests(
  database: Database,
  admissions: readonly AdmissionRequest[],
  batch: AdmissionBatch | null = null,
  lockWaitMs = DEFAULT_LOCK_WAIT_MS,
): Promise<AdmissionReply[]> {
  const cache = cacheOf(database)
  const previous = admissions.map(({ keyHash }) => cache.get(keyHash))
  const hashes = admissions.map(each => each.keyHash)
  const rows = await callFunction(database, 'admit', {
    key_hashes: hashes,
    requested: admissions.map(each => each.requests),
    in_slot: batch?.slot ?? null,
    this_batch: batch?.sequence ?? null,
    known_versions: previous.map(each => each?.version ?? null),
    commits_on_disk: batch === null,
    lock_wait_ms: lockWaitMs,
  })
  if (batch && rows.some(({ granted, near_end }) => granted > 0 && near_end)) await flushBatch(database, batch)
  return rows.map((row, i) => ({
    resolvedKey: resolveKey(cache, hashes[i] ?? '', previous[i], row),
    granted: row.granted,
  }))
}

/** Waits until the batch is on disk, so that no request is admitted by a count that a crash would undo. Rejects with ReplyLost otherwise. */
async function flushBatch(database: Database, { slot, sequence }: AdmissionBatch): Promise<void> {
  const rows = await database.call(FLUSH_BATCH, [slot, sequence]).catch(cause => {
    throw new ReplyLost(cause)
  })
  if (rows.length === 0) throw new ReplyLost('the server has lost the batch')
}

function cacheOf(database: Database): LRUCache<string, CachedKey> {
  let cache = cachedKeys.get(database)
  if (!cache) {
    cache = new LRUCache({ max: MAX_CACHED_KEYS, ttl: CACHED_KEY_TTL_MS, ttlResolution: 1_000 })
    cachedKeys.set(database, cache)
  }
  return cache
}

/** Returns the same object for the same text, so that callers can compare resolved keys by identity. */
function resolveKey(
  cache: LRUCache<string, CachedKey>,
  keyHash: string,
  before: CachedKey | undefined,
  { key_version: version, account: changed, month }: RowOf<'admit'>,
): ResolvedKey | UnknownKey {
  if (version === null) return UNKNOWN_KEY
  const sameMonth = before?.resolvedKey.month === month
  if (before && sameMonth && before.version === version) return before.resolvedKey
  const text = changed ?? before?.text
  if (text === undefined) throw new Error('admit() returned no account for a key that is not cached')
  const resolvedKey = before && sameMonth && before.text === text ? before.resolvedKey : parseResolvedKey(text, month)
  cache.set(keyHash, { version, text, resolvedKey })
  return resolvedKey
}

function parseResolvedKey(text: string, month: string): ResolvedKey {
  const { settings, ...columns } = JSON.parse(text)
  return { ...settings, ...columns, month }
}

/** Returns the keys whose project's counter is locked by another transaction, each with the counter's value. */
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
  /** The first day of the month in which they were reserved, `YYYY-MM-DD`. */
  month: string
  requests: number
}

/** Refunds reserved requests. Idempotent: refunds with the same `batch`, a UUID, are applied once. */
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

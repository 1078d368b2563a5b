/** Counts rate windows and reads exact entries in batches: waiting requests of the same key and address are counted together. */

import { createError, type ProxyError } from '../errors/errors.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { nowMs } from '../event-loop/clock.ts'
import { TimeoutError, withTimeout } from '../event-loop/timeouts.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { callFunctionForRow } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import {
  addressWindowName,
  type CountResult,
  type FastStore,
  keyWindowName,
  type RateWindow,
} from '../stores/fast-store.ts'
import { readWindowCounts } from '../stores/sliding-window.ts'

const MAX_BATCH = 1_000
/** Redis requests time out before this limit; the fallback store then counts in memory. */
const TIME_LIMIT_MS = 2_000
/** Equal to the time limit of the monthly quota. */
const DATABASE_LIMIT_MS = 850

export interface RateLimitRequest {
  resolvedKey: Pick<
    ResolvedKey,
    'project_id' | 'key_id' | 'requests_per_minute' | 'requests_per_minute_per_address' | 'minute_counted_until'
  >
  address: string
  /** Name of the exact entry to read; null for none. */
  entry: string | null
  /** Called before the request is counted, if its batch contains no other request. */
  onSingle?(): void
}

export interface RateLimitGrant {
  isGranted: true
  entry: Uint8Array | null
  /** Requests that the key may still send in this window. */
  remaining: number
  /** True when the database counted the request in its key's minute, too. */
  isInDatabase: boolean
  /** Removes the request from its windows. */
  uncount(): Promise<void>
}

export interface RateLimitRejection {
  isGranted: false
  fullWindow: RateWindow
  /** Time until one more request could pass. */
  waitMs: number
}

export type RateLimitResult = RateLimitGrant | RateLimitRejection

export interface RateLimiter {
  /** Counts a request in both of its windows or in neither. Reads its exact entry in the same call. */
  count(request: RateLimitRequest): Promise<RateLimitResult>
  /** Settles when all requests being counted have their replies. Null when none is. Never rejects. */
  inFlight(): Promise<unknown> | null
}

/** Returns whether the key's minute is counted in the database, too, because some process admits its requests without Redis. */
export function isMinuteCountedInDatabase({
  minute_counted_until: until,
}: Pick<ResolvedKey, 'minute_counted_until'>): boolean {
  return until !== null && until * 1_000 > nowMs()
}

export function createRateLimiter(store: FastStore, database: Database): RateLimiter {
  let inFlight: Promise<unknown> | null = null
  const createShardBatcher = () =>
    createBatcher<RateLimitRequest, RateLimitResult>({
      run(requests) {
        if (requests.length === 1) requests[0]?.onSingle?.()
        const running = runBatch(store, database, requests)
        const settled = running.then(ignore, ignore).then(() => {
          if (inFlight === settled) inFlight = null
        })
        inFlight = settled
        return running
      },
      maxItems: MAX_BATCH,
      timeoutMs: TIME_LIMIT_MS,
      // The store falls back to this process's memory by itself, so that only a busy process exceeds the limit.
      createTimeoutError: () => createError('busy'),
    })
  /** One batcher per shard. A batch waits for all of its requests, and requests of one shard must not wait for another shard. */
  const batchers = new Map<string, (request: RateLimitRequest) => Promise<RateLimitResult>>()

  function count(request: RateLimitRequest): Promise<RateLimitResult> {
    const { project_id, key_id } = request.resolvedKey
    const shard = store.shardOf?.(keyWindowName(project_id, key_id)) ?? ''
    let batcher = batchers.get(shard)
    if (!batcher) {
      batcher = createShardBatcher()
      batchers.set(shard, batcher)
    }
    return batcher(request)
  }

  return { count, inFlight: () => inFlight }
}

function ignore(): void {}

/** Requests with the same windows. They share one call. */
interface Group {
  resolvedKey: RateLimitRequest['resolvedKey']
  windows: readonly RateWindow[]
  requests: number
  /** Each entry's position in the call. */
  entries: Map<string, number>
  /** Granted requests that are not assigned yet. */
  left: number
  counted: CountResult | null
  isInDatabase: boolean
}

async function runBatch(
  store: FastStore,
  database: Database,
  requests: readonly RateLimitRequest[],
): Promise<RateLimitResult[]> {
  const groups = new Map<string, Group>()
  const groupOf = requests.map(request => {
    const group = findGroup(groups, request)
    group.requests++
    if (request.entry !== null && !group.entries.has(request.entry))
      group.entries.set(request.entry, group.entries.size)
    return group
  })
  await Promise.all(
    Array.from(groups.values(), async group => {
      const { requests: requested, windows, entries } = group
      group.counted = await store.count({ requests: requested, windows, entries: [...entries.keys()] })
      group.left = group.counted.granted
      if (group.left > 0 && (!group.counted.receipt.isInStore || isMinuteCountedInDatabase(group.resolvedKey)))
        await countInDatabase(store, database, group, group.counted)
    }),
  )
  return requests.map((request, i) => createResult(store, request, groupOf[i] as Group))
}

/** Counts the granted requests in the database. Rejects those beyond the key's limit over all processes, and removes them from the windows. */
async function countInDatabase(store: FastStore, database: Database, group: Group, counted: CountResult) {
  const { resolvedKey, windows, left } = group
  const { receipt, windows: seen } = counted
  const counting = callFunctionForRow(database, 'count_minute_requests', {
    of_project: resolvedKey.project_id,
    of_key: resolvedKey.key_id,
    requested: left,
    max_requests: resolvedKey.requests_per_minute,
    at_second: receipt.second,
    in_redis: receipt.isInStore && seen?.[0] ? readWindowCounts(seen[0]) : [],
    without_redis: !receipt.isInStore,
  })
  const names = windows.map(window => window.name)
  const limitMs = database.backend === 'embedded' ? TIME_LIMIT_MS : DATABASE_LIMIT_MS
  const startedAtMs = performance.now()
  const uncount = (requests: number) => store.uncount(names, requests, receipt)
  const row = await withTimeout(limitMs, counting).catch(async cause => {
    await uncount(left)
    const isBusy = cause instanceof TimeoutError && database.lastReplyAtMs() > startedAtMs
    throw createError(isBusy ? 'busy' : 'databaseUnavailable', null, cause)
  })
  const { granted, wait_seconds } = row ?? { granted: 0, wait_seconds: 1 }
  if (granted < left) await uncount(left - granted)
  group.left = granted
  group.isInDatabase = true
  const totals = counted.totals.map((total, i) => (i === 0 && granted < left ? resolvedKey.requests_per_minute : total))
  group.counted = { ...counted, totals, waitMs: Math.max(counted.waitMs, wait_seconds * 1_000) }
}

function findGroup(groups: Map<string, Group>, { resolvedKey, address }: RateLimitRequest): Group {
  const { key_id, project_id, requests_per_minute, requests_per_minute_per_address } = resolvedKey
  const limits = `${requests_per_minute} ${requests_per_minute_per_address}`
  const name = `${key_id} ${limits} ${isMinuteCountedInDatabase(resolvedKey)} ${address}`
  let group = groups.get(name)
  if (!group) {
    const windows = [
      { name: keyWindowName(project_id, key_id), limit: requests_per_minute },
      { name: addressWindowName(project_id, address), limit: requests_per_minute_per_address },
    ]
    group = {
      resolvedKey,
      windows,
      requests: 0,
      entries: new Map(),
      left: 0,
      counted: null,
      isInDatabase: false,
    }
    groups.set(name, group)
  }
  return group
}

/** Returns the result of one request. Grants go to a group's requests in order of arrival. */
function createResult(store: FastStore, { entry }: RateLimitRequest, group: Group): RateLimitResult {
  const { windows, counted } = group
  if (!counted) throw new Error('Rate limit group has no count; call createResult after store.count')
  if (group.left === 0)
    return { isGranted: false, fullWindow: findFullWindow(windows, counted), waitMs: counted.waitMs }
  group.left--
  const at = entry === null ? undefined : group.entries.get(entry)
  const names = windows.map(window => window.name)
  return {
    isGranted: true,
    entry: at === undefined ? null : (counted.entries[at] ?? null),
    remaining: Math.max(0, (windows[0]?.limit ?? 0) - (counted.totals[0] ?? 0) + group.left),
    isInDatabase: group.isInDatabase,
    uncount: () => store.uncount(names, 1, counted.receipt),
  }
}

function findFullWindow(windows: readonly RateWindow[], { totals }: CountResult): RateWindow {
  const full = windows.find((window, i) => (totals[i] ?? 0) >= window.limit) ?? windows[0]
  if (!full) throw new Error('Rate limit request has no windows; expected at least one')
  return full
}

/** Creates the 429 of a full rate window, with the time after which to retry. */
export function createRateLimitError(limit: number, waitMs: number): ProxyError {
  return createError('rateLimited', { limit, seconds: toRetryAfterSeconds(waitMs) })
}

/** Rounds up to whole seconds, the unit of Retry-After. */
export function toRetryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000))
}

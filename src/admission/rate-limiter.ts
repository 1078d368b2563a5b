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
/** The guarded store falls back to its own memory long before this. */
const TIME_LIMIT_MS = 2_000
/** As long as admission waits for the database. */
const DATABASE_LIMIT_MS = 850

export interface RateLimitRequest {
  resolvedKey: Pick<
    ResolvedKey,
    'project_id' | 'key_id' | 'requests_per_minute' | 'requests_per_minute_per_address' | 'minute_counted_until'
  >
  address: string
  /** Name of the exact entry to read; null for none. */
  entry: string | null
  /** Called before it is counted, if no other request is counted with it. */
  onSingle?(): void
}

export interface RateLimitGrant {
  isGranted: true
  entry: Uint8Array | null
  /** Requests that the key may still make in this window. */
  remaining: number
  /** Whether the database counted it in its key's minute, too. */
  isInDatabase: boolean
  /** Takes the request back out of its windows. */
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
  /** Counts a request in both of its windows, or in neither, and reads its exact entry in the same call. */
  count(request: RateLimitRequest): Promise<RateLimitResult>
  /** Settles when the requests now being counted have their replies; null when none are. Never rejects. */
  inFlight(): Promise<unknown> | null
}

/** Whether a process admits the key's requests without Redis: all then count its minute in the database, too. */
export function isMinuteCountedInDatabase({
  minute_counted_until: until,
}: Pick<ResolvedKey, 'minute_counted_until'>): boolean {
  return until !== null && until * 1_000 > nowMs()
}

export function createRateLimiter(store: FastStore, database: Database): RateLimiter {
  let underWay: Promise<unknown> | null = null
  const createShardBatcher = () =>
    createBatcher<RateLimitRequest, RateLimitResult>({
      run(requests) {
        if (requests.length === 1) requests[0]?.onSingle?.()
        const running = runBatch(store, database, requests)
        const settled = running.then(nothing, nothing).then(() => {
          if (underWay === settled) underWay = null
        })
        underWay = settled
        return running
      },
      maxItems: MAX_BATCH,
      timeoutMs: TIME_LIMIT_MS,
      // The store falls back to this process's memory by itself: what takes longer is our own doing.
      createTimeoutError: () => createError('busy'),
    })
  /** One for each shard: a batch waits for all of its requests, and the requests of one shard must not wait for another. */
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

  return { count, inFlight: () => underWay }
}

function nothing(): void {}

/** Requests with the same windows; they share one call. */
interface Group {
  account: RateLimitRequest['resolvedKey']
  windows: readonly RateWindow[]
  requests: number
  /** Each entry's position in the call. */
  entries: Map<string, number>
  /** Granted requests that have not been handed out yet. */
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
      const { requests: asked, windows, entries } = group
      group.counted = await store.count({ requests: asked, windows, entries: [...entries.keys()] })
      group.left = group.counted.granted
      if (group.left > 0 && (!group.counted.receipt.isInStore || isMinuteCountedInDatabase(group.account)))
        await countInDatabase(store, database, group, group.counted)
    }),
  )
  return requests.map((request, i) => reply(store, request, groupOf[i] as Group))
}

/** Of what the windows granted, the database lets pass what is left of the key's minute by all that were counted anywhere. */
async function countInDatabase(store: FastStore, database: Database, group: Group, counted: CountResult) {
  const { account, windows, left } = group
  const { receipt, windows: seen } = counted
  const counting = callFunctionForRow(database, 'count_minute_requests', {
    of_project: account.project_id,
    of_key: account.key_id,
    wanted: left,
    most: account.requests_per_minute,
    at_second: receipt.second,
    in_redis: receipt.isInStore && seen?.[0] ? readWindowCounts(seen[0]) : [],
    without_redis: !receipt.isInStore,
  })
  const names = windows.map(window => window.name)
  const limitMs = database.backend === 'embedded' ? TIME_LIMIT_MS : DATABASE_LIMIT_MS
  const startedAtMs = performance.now()
  const takeBack = (requests: number) => store.uncount(names, requests, receipt)
  const row = await withTimeout(limitMs, counting).catch(async cause => {
    await takeBack(left)
    const isBusy = cause instanceof TimeoutError && database.lastReplyAtMs() > startedAtMs
    throw createError(isBusy ? 'busy' : 'databaseUnavailable', null, cause)
  })
  const { granted, wait_seconds } = row ?? { granted: 0, wait_seconds: 1 }
  if (granted < left) await takeBack(left - granted)
  group.left = granted
  group.isInDatabase = true
  const totals = counted.totals.map((total, i) => (i === 0 && granted < left ? account.requests_per_minute : total))
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
      account: resolvedKey,
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

/** Grants go to a group's requests in order of arrival. */
function reply(store: FastStore, { entry }: RateLimitRequest, group: Group): RateLimitResult {
  const { windows, counted } = group
  if (!counted) throw new Error('A group was not asked for')
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
  if (!full) throw new Error('A request has windows')
  return full
}

/** The 429 of a rate window; it tells the client when to come back. */
export function createRateLimitError(limit: number, waitMs: number): ProxyError {
  return createError('rateLimited', { limit, seconds: toRetryAfterSeconds(waitMs) })
}

/** Retry-After knows whole seconds only. */
export function toRetryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000))
}

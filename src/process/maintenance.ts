/** Background maintenance: deletes expired and excess entries, rebuilds lists, creates and drops partitions, delivers events. */

import { startWebhookDeliveries } from '../admin/webhooks/deliver-webhooks.ts'
import type { Config } from '../config/config.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { rebuildCacheLists, syncDatabaseTime } from '../postgres/database-maintenance.ts'
import { rollUpUsage } from '../postgres/record-usage.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import { createVault } from '../providers/keys/vault.ts'
import type { FailureCategory } from '../telemetry/failure-reporter.ts'
import type { Log } from '../telemetry/log.ts'

const SWEEP_EVERY_MS = 60_000
const CLOCK_EVERY_MS = 60_000
const LISTS_EVERY_MS = 60_000
const UPKEEP_EVERY_MS = 3_600_000
const ROLL_UP_EVERY_MS = 5_000
const EVENTS_EVERY_MS = 15_000
/** Half of the time for which a failure degrades health. */
const RETRY_AFTER_FAILURE_MS = 25_000
/** Less is a clock that is kept right, or a transaction that took longer than another. */
const STEP_SECONDS = 60
const ROWS_A_BITE = 1_000

export interface MaintenanceOptions {
  config: Config
  database: Database
  log: Log
  /** How often each loop runs, and looks again after a failure: by default each in its own time. */
  maintenanceEveryMs?: number | undefined
}

export interface Maintenance {
  stop(): Promise<void>
}

/** Resolves when there is a partition for today's usage records. */
export async function startMaintenance({
  config,
  database,
  log,
  maintenanceEveryMs,
}: MaintenanceOptions): Promise<Maintenance> {
  const lookAtClock = () => tellStep(database, log)
  await lookAtClock()
  const keepPartitions = () => callFunction(database, 'maintain_usage_partitions', {})
  await keepPartitions()
  const loops: BackgroundLoop[] = []
  const every = (delayMs: number, what: FailureCategory, message: string, run: () => Promise<unknown>) => {
    loops.push(
      startBackgroundLoop({ delayMs: maintenanceEveryMs ?? delayMs, what, message, run, failures: log.failures }),
    )
  }
  every(CLOCK_EVERY_MS, 'clock', "the database's clock could not be compared", lookAtClock)
  every(SWEEP_EVERY_MS, 'sweep', 'expired cache entries and reservations could not be deleted', () => sweep(database))
  every(LISTS_EVERY_MS, 'lists', "the cache's lists could not be rebuilt", () => rebuildCacheLists(database))
  every(ROLL_UP_EVERY_MS, 'sums', 'usage could not be summed up', () => rollUpUsage(database))
  every(EVENTS_EVERY_MS, 'events', 'events could not be raised', () => callFunction(database, 'raise_due_events', {}))
  every(UPKEEP_EVERY_MS, 'partitions', 'usage partitions could not be maintained', keepPartitions)
  every(UPKEEP_EVERY_MS, 'outdated', 'outdated rows could not be deleted', () =>
    takeBites(database, 'delete_expired_rows'),
  )
  const deliveries = startWebhookDeliveries({
    database,
    vault: createVault(() => readEncryptionKeys(config)),
    allowsPrivateNetworks: config.allowsPrivateWebhooks,
    log,
    pollIntervalMs: maintenanceEveryMs,
    retryAfterMs: maintenanceEveryMs,
  })
  return {
    async stop() {
      for (const loop of loops) loop.stop()
      await deliveries.stop()
    },
  }
}

interface LoopOptions {
  delayMs: number
  what: FailureCategory
  /** Of a tick that failed. */
  message: string
  run: () => Promise<unknown>
  failures: Log['failures']
}

export interface BackgroundLoop {
  stop(): void
}

/** Runs every `delayMs`, the first time after that; sooner after a failure, so that it is known to last, or to be over. */
export function startBackgroundLoop({ delayMs, what, message, run, failures }: LoopOptions): BackgroundLoop {
  const waitAfterFailureMs = Math.min(delayMs, RETRY_AFTER_FAILURE_MS)
  let timer: ReturnType<typeof setTimeout>
  let isStopped = false
  const tickIn = (waitMs: number) => {
    if (!isStopped) timer = setTimeout(tick, waitMs).unref()
  }
  async function tick(): Promise<void> {
    try {
      await run()
      failures.recover(what)
      tickIn(delayMs)
    } catch (error) {
      if (!isStopped) failures.report(what, error, message)
      tickIn(waitAfterFailureMs)
    }
  }
  tickIn(delayMs)
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

async function tellStep(database: Database, log: Log): Promise<void> {
  const seconds = await callFunction(database, 'record_database_time', {})
  await syncDatabaseTime(database)
  if (seconds > STEP_SECONDS) log.warn({ seconds }, 'the clock of the database has stepped back')
}

async function sweep(database: Database): Promise<void> {
  await callFunction(database, 'expire_reservations', {})
  for (const bite of [
    'delete_expired_entries',
    'delete_expired_stored_responses',
    'delete_expired_verdicts',
    'evict_entries',
  ] as const)
    await takeBites(database, bite)
}

type Bite =
  | 'delete_expired_rows'
  | 'delete_expired_entries'
  | 'delete_expired_stored_responses'
  | 'delete_expired_verdicts'
  | 'evict_entries'

/** One statement each, so that none is long however much there is. */
async function takeBites(database: Database, bite: Bite): Promise<void> {
  while ((await callFunction(database, bite, { at_most: ROWS_A_BITE })) >= ROWS_A_BITE) await Bun.sleep(50)
}

/** Background maintenance: deletes expired and excess entries, manages partitions, and delivers events. */

import { publicDashboardOriginOf } from '../admin/addresses.ts'
import { createMailer } from '../admin/mail/mailer.ts'
import { startWebhookDeliveries } from '../admin/webhooks/deliver-webhooks.ts'
import { purgeOldVersions } from '../cache/cache-versions.ts'
import type { Config } from '../config/config.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { rollUpUsage } from '../postgres/record-usage.ts'
import { syncDatabaseTime } from '../postgres/sync-database-time.ts'
import { openVault } from '../providers/keys/vault.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { FailureCategory } from '../telemetry/failure-reporter.ts'
import type { Log } from '../telemetry/log.ts'

const SWEEP_EVERY_MS = 60_000
const CLOCK_EVERY_MS = 60_000
const UPKEEP_EVERY_MS = 3_600_000
const ROLL_UP_EVERY_MS = 5_000
const EVENTS_EVERY_MS = 15_000
const ALERTS_EVERY_MS = 60_000
/** The delay after a failure: half of the time for which a failure degrades health. */
const RETRY_AFTER_FAILURE_MS = 25_000
/** The smallest step of the database's clock that is logged. Smaller ones are clock corrections, or concurrent transactions. */
const STEP_SECONDS = 60
const BATCH_ROWS = 1_000

export interface MaintenanceOptions {
  config: Config
  database: Database
  store: FastStore
  log: Log
  /** The interval of all loops, also after a failure; by default, each has its own. */
  maintenanceEveryMs?: number | undefined
}

export interface Maintenance {
  stop(): Promise<void>
}

/** Starts maintenance. Resolves once there is a partition for today's usage records. */
export async function startMaintenance({
  config,
  database,
  store,
  log,
  maintenanceEveryMs,
}: MaintenanceOptions): Promise<Maintenance> {
  const checkClock = () => logClockStep(database, log)
  await checkClock()
  const maintainPartitions = () => callFunction(database, 'maintain_usage_partitions', {})
  await maintainPartitions()
  const loops: BackgroundLoop[] = []
  const every = (delayMs: number, what: FailureCategory, message: string, run: () => Promise<unknown>) => {
    loops.push(
      startBackgroundLoop({ delayMs: maintenanceEveryMs ?? delayMs, what, message, run, failures: log.failures }),
    )
  }
  every(CLOCK_EVERY_MS, 'clock', "the database's clock could not be compared", checkClock)
  every(SWEEP_EVERY_MS, 'sweep', 'expired cache entries and reservations could not be deleted', () =>
    sweep({ database, store }),
  )
  every(ROLL_UP_EVERY_MS, 'sums', 'usage could not be summed up', () => rollUpUsage(database))
  every(EVENTS_EVERY_MS, 'events', 'events could not be raised', () => callFunction(database, 'raise_due_events', {}))
  every(ALERTS_EVERY_MS, 'alerts', 'alerts could not be measured', () => callFunction(database, 'update_alerts', {}))
  every(UPKEEP_EVERY_MS, 'partitions', 'usage partitions could not be maintained', maintainPartitions)
  every(UPKEEP_EVERY_MS, 'outdated', 'outdated rows could not be deleted', () =>
    deleteInBatches(database, 'delete_expired_rows'),
  )
  const deliveries = startWebhookDeliveries({
    database,
    vault: openVault(config),
    allowsPrivateNetworks: config.allowsPrivateWebhooks,
    mailer: createMailer(config.mail),
    dashboardOrigin: publicDashboardOriginOf(config),
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
  /** The log message of a failed tick. */
  message: string
  run: () => Promise<unknown>
  failures: Log['failures']
}

export interface BackgroundLoop {
  stop(): void
}

/** Calls `run` every `delayMs`, first after `delayMs`. Runs sooner after a failure, so that health shows whether the failure persists. */
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

async function logClockStep(database: Database, log: Log): Promise<void> {
  const seconds = await callFunction(database, 'record_database_time', {})
  await syncDatabaseTime(database)
  if (seconds > STEP_SECONDS) log.warn({ seconds }, 'the clock of the database has stepped back')
}

async function sweep({ database, store }: Pick<MaintenanceOptions, 'database' | 'store'>): Promise<void> {
  await callFunction(database, 'expire_reservations', {})
  await purgeOldVersions({ database, store })
  for (const name of SWEPT) await deleteInBatches(database, name)
}

const SWEPT = [
  'delete_expired_entries',
  'delete_expired_stored_responses',
  'delete_expired_verdicts',
  'evict_entries',
] as const

/** Calls a function until nothing is left. Each call handles one batch, so that no statement takes long. */
async function deleteInBatches(
  database: Database,
  name: (typeof SWEPT)[number] | 'delete_expired_rows',
): Promise<void> {
  while ((await callFunction(database, name, { max_rows: BATCH_ROWS })) >= BATCH_ROWS) await Bun.sleep(50)
}

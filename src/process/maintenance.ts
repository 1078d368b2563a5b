/** Background maintenance: deletes expired and excess entries, rebuilds lists, creates and drops partitions, delivers events. */

import { startDeliveries } from '../admin/webhooks/deliver.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../postgres/database.ts'
import { raiseDueEvents } from '../postgres/events.ts'
import { deleteExpiredResponses } from '../postgres/kept-responses.ts'
import { maintainUsagePartitions, noteTime, readTime } from '../postgres/partitions.ts'
import { deleteOutdated, rollUpUsage } from '../postgres/record-usage.ts'
import { presumeExpiredSpending } from '../postgres/spending.ts'
import { deleteExpiredEntries, evictEntries, rebuildCacheLists } from '../postgres/tend-cache.ts'
import { forgetVerdicts } from '../postgres/verdicts.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import { createVault } from '../providers/keys/vault.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'

const SWEEP_EVERY_MS = 60_000
const CLOCK_EVERY_MS = 60_000
const LISTS_EVERY_MS = 60_000
const UPKEEP_EVERY_MS = 3_600_000
const ROLL_UP_EVERY_MS = 5_000
const EVENTS_EVERY_MS = 15_000
/** Less is a clock that is kept right, or a transaction that took longer than another. */
const STEP_SECONDS = 60
const ROWS_A_BITE = 1_000

export interface MaintenanceOptions {
  config: Config
  database: Database
  log: Log
}

export interface Maintenance {
  stop(): Promise<void>
}

/** Resolves when there is a partition for today's usage records. */
export async function startMaintenance({ config, database, log }: MaintenanceOptions): Promise<Maintenance> {
  const lookAtClock = () => tellStep(database, log)
  await lookAtClock()
  await maintainUsagePartitions(database)
  const logFailure = (what: string) => (error: unknown) => log.warn({ cause: describeCause(error) }, what)
  const timers = [
    setInterval(() => lookAtClock().catch(logFailure('the clock could not be looked at')), CLOCK_EVERY_MS),
    setInterval(() => sweep(database).catch(logFailure('the cache could not be swept')), SWEEP_EVERY_MS),
    setInterval(
      () => rebuildCacheLists(database).catch(logFailure("the cache's lists could not be rebuilt")),
      LISTS_EVERY_MS,
    ),
    setInterval(() => rollUpUsage(database).catch(logFailure('usage could not be summed up')), ROLL_UP_EVERY_MS),
    setInterval(() => raiseDueEvents(database).catch(logFailure('events could not be raised')), EVENTS_EVERY_MS),
    setInterval(
      () => maintainUsagePartitions(database).catch(logFailure('usage partitions could not be kept')),
      UPKEEP_EVERY_MS,
    ),
    setInterval(
      () => takeBites(database, deleteOutdated).catch(logFailure('what is outdated could not be deleted')),
      UPKEEP_EVERY_MS,
    ),
  ]
  for (const timer of timers) timer.unref()
  const deliveries = startDeliveries({
    database,
    vault: createVault(() => readEncryptionKeys(config)),
    toPrivateNetworks: config.webhooksToPrivateNetworks,
    log,
  })
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await deliveries.stop()
    },
  }
}

async function tellStep(database: Database, log: Log): Promise<void> {
  const seconds = await noteTime(database)
  await readTime(database)
  if (seconds > STEP_SECONDS) log.warn({ seconds }, 'the clock of the database has stepped back')
}

async function sweep(database: Database): Promise<void> {
  await presumeExpiredSpending(database)
  for (const takeBite of [deleteExpiredEntries, deleteExpiredResponses, forgetVerdicts, evictEntries])
    await takeBites(database, takeBite)
}

/** One statement each, so that none is long however much there is. */
async function takeBites(database: Database, takeBite: typeof deleteOutdated): Promise<void> {
  while ((await takeBite(database, ROWS_A_BITE)) >= ROWS_A_BITE) await Bun.sleep(50)
}

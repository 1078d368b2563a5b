/** Background maintenance: deletes expired and excess entries, rebuilds lists, creates and drops partitions, delivers events. */

import { startDeliveries } from '../admin/webhooks/deliver.ts'
import type { Config } from '../config/config.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { rollUpUsage } from '../postgres/record-usage.ts'
import { readTime, rebuildCacheLists } from '../postgres/upkeep.ts'
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
  const keepPartitions = () => call(database, 'maintain_usage_partitions', {})
  await keepPartitions()
  const timers: ReturnType<typeof setInterval>[] = []
  const every = (delayMs: number, failed: string, run: () => Promise<unknown>) => {
    const tell = (error: unknown) => log.warn({ cause: describeCause(error) }, failed)
    timers.push(setInterval(() => run().catch(tell), delayMs).unref())
  }
  every(CLOCK_EVERY_MS, 'the clock could not be looked at', lookAtClock)
  every(SWEEP_EVERY_MS, 'the cache could not be swept', () => sweep(database))
  every(LISTS_EVERY_MS, "the cache's lists could not be rebuilt", () => rebuildCacheLists(database))
  every(ROLL_UP_EVERY_MS, 'usage could not be summed up', () => rollUpUsage(database))
  every(EVENTS_EVERY_MS, 'events could not be raised', () => call(database, 'raise_due_events', {}))
  every(UPKEEP_EVERY_MS, 'usage partitions could not be kept', keepPartitions)
  every(UPKEEP_EVERY_MS, 'what is outdated could not be deleted', () => takeBites(database, 'delete_outdated'))
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
  const seconds = await call(database, 'note_time', {})
  await readTime(database)
  if (seconds > STEP_SECONDS) log.warn({ seconds }, 'the clock of the database has stepped back')
}

async function sweep(database: Database): Promise<void> {
  await call(database, 'expire_reservations', {})
  for (const bite of [
    'delete_expired_entries',
    'delete_expired_responses',
    'forget_verdicts',
    'evict_entries',
  ] as const)
    await takeBites(database, bite)
}

type Bite =
  | 'delete_outdated'
  | 'delete_expired_entries'
  | 'delete_expired_responses'
  | 'forget_verdicts'
  | 'evict_entries'

/** One statement each, so that none is long however much there is. */
async function takeBites(database: Database, bite: Bite): Promise<void> {
  while ((await call(database, bite, { at_most: ROWS_A_BITE })) >= ROWS_A_BITE) await Bun.sleep(50)
}

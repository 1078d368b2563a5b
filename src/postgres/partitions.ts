/** The database's time, and the partitions of what is kept by time: also where a clock steps. */
import { learnTime } from '../event-loop/clock.ts'
import { type Database, sqlStateOf } from './database.ts'
import { defineStatement, integer, nothing, readOne, runStatement, timestamp } from './statement.ts'

const MAINTAIN_PARTITIONS = defineStatement('select model_proxy.maintain_usage_partitions() as done', { done: nothing })

/** Creates partitions ahead of time and drops those past retention. */
export async function maintainUsagePartitions(database: Database): Promise<void> {
  await runStatement(database, MAINTAIN_PARTITIONS)
}

/** SQLSTATE of a row whose time no partition has, among others. */
const CHECK_VIOLATION = '23514'

/** Runs what writes rows by time. Where a clock has stepped, their partition may be missing: it is made, and all is run once more. */
export async function inPartitions<T>(database: Database, run: (hasStepped: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(false)
  } catch (error) {
    if (sqlStateOf(error) !== CHECK_VIOLATION) throw error
    await maintainUsagePartitions(database)
    await readTime(database)
    return run(true)
  }
}

const READ_TIME = defineStatement('select clock_timestamp() as now', { now: timestamp })
const NOTE_TIME = defineStatement('select model_proxy.note_time() as back', { back: integer })

/** Dates anew what the database's clock dated before it stepped back; returns by how many seconds it did since the last call. */
export async function noteTime(database: Database): Promise<number> {
  return (await readOne(database, NOTE_TIME)).back
}

/** At the start, and every minute; each write of records tells the time again. */
export async function readTime(database: Database): Promise<void> {
  learnTime((await readOne(database, READ_TIME)).now)
}

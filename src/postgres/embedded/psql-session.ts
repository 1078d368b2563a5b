/** One psql session on the embedded database: takes its turn for each statement, and keeps it through a transaction. */
import type { PGlite } from '@electric-sql/pglite'
import type { Turns } from './embedded-turns.ts'
import { encodeCopyFail, encodeFatal, SYNC } from './psql-frames.ts'

export interface PsqlSession {
  /** Begins it with PostgreSQL's startup message. */
  open(startup: Uint8Array): Promise<'open' | 'ended'>
  /** Handles one message. Rejects when the session cannot go on. */
  handle(type: string, bytes: Uint8Array): Promise<'open' | 'ended'>
  /** Rolls back what is open and forgets what the session left behind. Later calls wait for the first. */
  end(): Promise<void>
}

export interface PsqlSessionOptions {
  db: PGlite
  turns: Turns
  send(bytes: Uint8Array): void
  /** Writes what is not yet on disk: a statement that never ends may cost the database its process. */
  flush(): Promise<void>
  /** Told before and after the database works for this session. */
  onRuns(runs: boolean): void
  /** Called when the session kept others waiting too long; what it began is to be ended. */
  onOverstay(): void
}

/** How long a statement waits for another session's transaction. */
const TURN_WAIT_MS = 10_000

/** How long others may wait for a session's transaction; a statement that runs too long is for others to end. */
const AWAITED_LIMIT_MS = 700
const OVERSTAY_CHECK_MS = 100

/** PGlite reads a message to its end before it answers; rows that would come after the answer cannot be taken. */
const COPY_FAIL = encodeCopyFail('not available on the embedded database; use INSERT')

/** Settings that the session made with SET, and its role, which pg_settings does not list. */
const READ_SETTINGS = `
select name, setting from pg_settings where source = 'session'
union all
select 'role', current_setting('role') where current_setting('role') <> 'none'`

export function createPsqlSession({ db, turns, send, flush, onRuns, onOverstay }: PsqlSessionOptions): PsqlSession {
  let endTurn: (() => void) | null = null
  let settings: { name: string; setting: string }[] = []
  const batch: Uint8Array[] = []
  let unsynced = false
  let ended: Promise<void> | null = null
  let overstayTimer: NodeJS.Timeout | undefined

  async function open(startup: Uint8Array): Promise<'open' | 'ended'> {
    if (ended) return 'ended'
    await runBatch([startup])
    return 'open'
  }

  async function handle(type: string, bytes: Uint8Array): Promise<'open' | 'ended'> {
    if (ended) return 'ended'
    switch (type) {
      case 'X':
        return 'ended'
      // Rows for a COPY that was refused.
      case 'd':
      case 'c':
      case 'f':
        return 'open'
      case 'P':
      case 'B':
      case 'D':
      case 'E':
      case 'C':
        batch.push(bytes)
        return 'open'
      case 'H':
      case 'S':
      case 'Q':
      case 'F':
        unsynced = type === 'H'
        await runBatch([...batch.splice(0), bytes, COPY_FAIL])
        return 'open'
      default:
        throw new Error(`invalid frontend message type ${type.charCodeAt(0)}`)
    }
  }

  /** Runs messages up to one that PostgreSQL answers, so that no other session's come in between. */
  async function runBatch(messages: Uint8Array[]): Promise<void> {
    clearInterval(overstayTimer)
    await beginTurn()
    onRuns(true)
    try {
      const answered = await run(Buffer.concat(messages), send)
      // A refused COPY swallows the Sync behind it.
      if (!answered && !unsynced) await run(SYNC, send)
    } finally {
      onRuns(false)
    }
    if (unsynced || db.isInTransaction()) watchForOverstay()
    else await giveTurnBack()
  }

  /** Whether PostgreSQL said at the end that it is ready for more. */
  async function run(bytes: Uint8Array, onData: (bytes: Uint8Array) => void): Promise<boolean> {
    let tail: Uint8Array = Buffer.alloc(0)
    await db.execProtocolRawStream(bytes, {
      onRawData(data) {
        // PGlite's own memory, valid during this call alone.
        const copy = Buffer.from(data)
        tail = Buffer.concat([tail, copy]).subarray(-6)
        onData(copy)
      },
    })
    return tail.length === 6 && tail[0] === 'Z'.charCodeAt(0)
  }

  async function beginTurn(): Promise<void> {
    if (endTurn) return
    endTurn = await turns.take({ limitMs: TURN_WAIT_MS })
    await flush()
    if (settings.length === 0) return
    const values = JSON.stringify(settings)
    await db
      .query(
        'select set_config(s.name, s.setting, false) from json_to_recordset($1::json) as s (name text, setting text)',
        [values],
      )
      .catch(() => {
        // A setting may have become impossible, as when its role was dropped; the session goes on with the defaults.
      })
  }

  /** There is one session for all: what this one SET must not reach the others, and be there when it comes back. */
  async function giveTurnBack(): Promise<void> {
    settings = (await db.query<{ name: string; setting: string }>(READ_SETTINGS)).rows
    if (settings.length > 0) await db.exec('reset session authorization; reset all')
    endTurn?.()
    endTurn = null
  }

  function watchForOverstay() {
    const check = () => {
      if (turns.awaitedMs() < AWAITED_LIMIT_MS) return
      clearInterval(overstayTimer)
      send(encodeFatal('25P03', 'terminating connection: its open transaction keeps the proxy waiting'))
      onOverstay()
    }
    overstayTimer = setInterval(check, OVERSTAY_CHECK_MS)
    // Statements in quick succession leave the timer no time.
    check()
  }

  async function cleanUp(): Promise<void> {
    clearInterval(overstayTimer)
    endTurn ??= await turns.take({ limitMs: Number.POSITIVE_INFINITY })
    try {
      if (unsynced) await run(SYNC, () => {})
      if (db.isInTransaction()) await db.exec('rollback')
      await db.exec('discard all')
    } finally {
      endTurn()
    }
  }

  return {
    open,
    handle,
    end() {
      ended ??= cleanUp()
      return ended
    },
  }
}

/** A psql session on the embedded database. It holds the session lock for each statement, and during a transaction. */
import type { PGlite } from '@electric-sql/pglite'
import { encodeCopyFail, encodeFatalError, SYNC_MESSAGE } from './psql-frames.ts'
import type { SessionLock } from './session-lock.ts'

interface PsqlSessionLockOptions {
  db: PGlite
  sessionLock: SessionLock
  /** Flushes to disk before a statement. If the statement never ends, the worker is terminated and loses unflushed commits. */
  flush(): Promise<void>
  /** Sets the settings of the proxy's session again, after a reset. */
  reapplySettings(): Promise<void>
  /** Called when the session keeps others waiting too long. */
  onLockTimeout(): void
}

export interface PsqlSessionOptions extends PsqlSessionLockOptions {
  send(bytes: Uint8Array): void
  /** Called before and after the database runs messages of this session. */
  onBusyChange(runs: boolean): void
  /** Called when the session has kept others waiting too long. The caller must end it. */
  onLockTimeout(): void
}

/** Rejects COPY FROM STDIN. PGlite reads a message completely before it replies, so it cannot receive rows that follow the reply. */
const COPY_FAIL = encodeCopyFail('not available on the embedded database; use INSERT')

export class PsqlSession {
  readonly #db: PGlite
  readonly #options: PsqlSessionOptions
  readonly #lock: PsqlSessionLock
  /** Messages to which PostgreSQL replies only after a later Sync, Flush or Query. */
  #deferred: Uint8Array[] = []
  /** True if the client has sent Flush, but no Sync since. */
  #isUnsynced = false
  #ended: Promise<void> | null = null

  constructor(options: PsqlSessionOptions) {
    this.#db = options.db
    this.#options = options
    this.#lock = new PsqlSessionLock({ ...options, onLockTimeout: () => this.#reportLockTimeout() })
  }

  /** Starts the session with PostgreSQL's startup message. */
  async open(startup: Uint8Array): Promise<'open' | 'ended'> {
    if (this.#ended) return 'ended'
    await this.#runTogether([startup])
    return 'open'
  }

  /** Handles one message. Rejects when the session cannot continue. */
  async handle(type: string, bytes: Uint8Array): Promise<'open' | 'ended'> {
    if (this.#ended) return 'ended'
    switch (type) {
      case 'X':
        return 'ended'
      // Rows for a rejected COPY.
      case 'd':
      case 'c':
      case 'f':
        return 'open'
      case 'P':
      case 'B':
      case 'D':
      case 'E':
      case 'C':
        this.#deferred.push(bytes)
        return 'open'
      case 'H':
      case 'S':
      case 'Q':
      case 'F': {
        this.#isUnsynced = type === 'H'
        const messages = [...this.#deferred, bytes, COPY_FAIL]
        this.#deferred = []
        await this.#runTogether(messages)
        return 'open'
      }
      default:
        throw new Error(`invalid frontend message type ${type.charCodeAt(0)}`)
    }
  }

  /** Rolls back an open transaction and discards the session's state. Later calls return the promise of the first. */
  end(): Promise<void> {
    this.#ended ??= this.#lock.releaseAfter(async () => {
      if (this.#isUnsynced) await this.#run(SYNC_MESSAGE, () => {})
      if (this.#db.isInTransaction()) await this.#db.exec('rollback')
      await this.#db.exec('discard all')
      await this.#options.reapplySettings()
    })
    return this.#ended
  }

  /** Runs messages up to one that PostgreSQL replies to, so that no other session's messages come in between. */
  async #runTogether(messages: Uint8Array[]): Promise<void> {
    const { send, onBusyChange } = this.#options
    await this.#lock.acquire()
    onBusyChange(true)
    try {
      const isReady = await this.#run(Buffer.concat(messages), send)
      // A rejected COPY consumes the Sync after it.
      if (!isReady && !this.#isUnsynced) await this.#run(SYNC_MESSAGE, send)
    } finally {
      onBusyChange(false)
    }
    if (this.#isUnsynced || this.#db.isInTransaction()) this.#lock.hold()
    else await this.#lock.release()
  }

  /** Runs messages. Resolves to true if PostgreSQL reports at the end that it is ready for a query. */
  async #run(bytes: Uint8Array, onData: (bytes: Uint8Array) => void): Promise<boolean> {
    let tail: Uint8Array = Buffer.alloc(0)
    await this.#db.execProtocolRawStream(bytes, {
      onRawData(data) {
        // Copied, because the bytes are PGlite's memory and valid only during this call.
        const copy = Buffer.from(data)
        tail = Buffer.concat([tail, copy]).subarray(-6)
        onData(copy)
      },
    })
    return tail.length === 6 && tail[0] === 'Z'.charCodeAt(0)
  }

  #reportLockTimeout(): void {
    const { send, onLockTimeout } = this.#options
    send(encodeFatalError('25P03', 'terminating connection: its open transaction blocks the proxy'))
    onLockTimeout()
  }
}

/** The time that a statement waits for another session's transaction. */
const LOCK_WAIT_MS = 10_000

/** The time that others may wait for a session's transaction. `embedded-process.ts` ends a single statement that runs too long. */
const OTHERS_WAIT_LIMIT_MS = 700
const WAIT_CHECK_MS = 100

/** Reads the settings that the session has SET, and its role, which pg_settings does not list. */
const READ_SETTINGS = `
select name, setting from pg_settings where source = 'session'
union all
select 'role', current_setting('role') where current_setting('role') <> 'none'`
const RESTORE_SETTINGS =
  'select set_config(s.name, s.setting, false) from json_to_recordset($1::json) as s (name text, setting text)'

/** Acquires the session lock for a psql session: restores the session's settings, and limits the time while others wait. */
class PsqlSessionLock {
  readonly #options: PsqlSessionLockOptions
  #settings: { name: string; setting: string }[] = []
  /** Releases the lock; null if the session does not hold it. */
  #releaseLock: (() => void) | null = null
  #waitCheckTimer: ReturnType<typeof setInterval> | undefined

  constructor(options: PsqlSessionLockOptions) {
    this.#options = options
  }

  /** Acquires the lock, at once if the session still holds it. Rejects if other sessions hold it too long. */
  async acquire(): Promise<void> {
    clearInterval(this.#waitCheckTimer)
    if (this.#releaseLock) return
    const { db, sessionLock, flush } = this.#options
    this.#releaseLock = await sessionLock.acquire({ limitMs: LOCK_WAIT_MS })
    await flush()
    if (this.#settings.length === 0) return
    await db.query(RESTORE_SETTINGS, [JSON.stringify(this.#settings)]).catch(() => {
      // A setting may have become invalid, such as a dropped role. The session continues with the defaults then.
    })
  }

  /** Keeps the lock, because a transaction is open. Calls `onLockTimeout` once others have waited too long. */
  hold(): void {
    const { sessionLock, onLockTimeout } = this.#options
    const check = () => {
      if (sessionLock.longestWaitMs() < OTHERS_WAIT_LIMIT_MS) return
      clearInterval(this.#waitCheckTimer)
      onLockTimeout()
    }
    this.#waitCheckTimer = setInterval(check, WAIT_CHECK_MS)
    // Checks here too, because statements in quick succession clear the timer before it fires.
    check()
  }

  /** Releases the lock. All share one session, so this session's settings are saved for its next statement, and reset for the others. */
  async release(): Promise<void> {
    const { db, reapplySettings } = this.#options
    this.#settings = (await db.query<{ name: string; setting: string }>(READ_SETTINGS)).rows
    if (this.#settings.length > 0) {
      await db.exec('reset session authorization; reset all')
      await reapplySettings()
    }
    this.#releaseLock?.()
    this.#releaseLock = null
  }

  /** Acquires the lock without a time limit, runs `cleanUp`, and releases it. The session cannot be used afterwards. */
  async releaseAfter(cleanUp: () => Promise<void>): Promise<void> {
    clearInterval(this.#waitCheckTimer)
    this.#releaseLock ??= await this.#options.sessionLock.acquire({ limitMs: Number.POSITIVE_INFINITY })
    try {
      await cleanUp()
    } finally {
      this.#releaseLock()
    }
  }
}

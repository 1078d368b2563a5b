/** Acquires the session lock for a psql session: restores the session's settings, and limits the time while others wait. */
import type { PGlite } from '@electric-sql/pglite'
import type { SessionLock } from './session-lock.ts'

export interface PsqlSessionLockOptions {
  db: PGlite
  sessionLock: SessionLock
  /** Flushes to disk before a statement. If the statement never ends, the worker is terminated and loses unflushed commits. */
  flush(): Promise<void>
  /** Sets the settings of the proxy's session again, after a reset. */
  reapplySettings(): Promise<void>
  /** Called when the session keeps others waiting too long. */
  onLockTimeout(): void
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

export class PsqlSessionLock {
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

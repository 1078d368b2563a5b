/** One psql session's turn on the embedded database: with the session's own settings, and limited when others wait. */
import type { PGlite } from '@electric-sql/pglite'
import type { SessionLock } from './session-lock.ts'

export interface PsqlSessionLockOptions {
  db: PGlite
  sessionLock: SessionLock
  /** Flushes to disk first, because a statement that never ends costs the worker, and with it asynchronous commits. */
  flush(): Promise<void>
  /** Sets what the proxy's own session needs, after a reset. */
  reapplySettings(): Promise<void>
  /** Called when the turn keeps others waiting too long. */
  onLockTimeout(): void
}

/** How long a statement waits for another session's transaction. */
const TURN_WAIT_MS = 10_000

/** How long others may wait for a session's transaction. A single statement that runs too long is ended by `embedded-process.ts`. */
const AWAITED_LIMIT_MS = 700
const OVERSTAY_CHECK_MS = 100

/** The session's settings from SET, and its role, which pg_settings does not list. */
const READ_SETTINGS = `
select name, setting from pg_settings where source = 'session'
union all
select 'role', current_setting('role') where current_setting('role') <> 'none'`
const RESTORE_SETTINGS =
  'select set_config(s.name, s.setting, false) from json_to_recordset($1::json) as s (name text, setting text)'

export class PsqlSessionLock {
  readonly #options: PsqlSessionLockOptions
  #settings: { name: string; setting: string }[] = []
  /** Ends the turn; null without one. */
  #end: (() => void) | null = null
  #overstayTimer: ReturnType<typeof setInterval> | undefined

  constructor(options: PsqlSessionLockOptions) {
    this.#options = options
  }

  /** Resolves when the turn has come, at once if the session still has it. Rejects when other sessions keep it too long. */
  async acquire(): Promise<void> {
    clearInterval(this.#overstayTimer)
    if (this.#end) return
    const { db, sessionLock, flush } = this.#options
    this.#end = await sessionLock.acquire({ limitMs: TURN_WAIT_MS })
    await flush()
    if (this.#settings.length === 0) return
    await db.query(RESTORE_SETTINGS, [JSON.stringify(this.#settings)]).catch(() => {
      // A setting may have become invalid, for example a dropped role. The session then continues with the defaults.
    })
  }

  /** Keeps the turn, because a transaction is open. After others have waited too long, `onOverstay` is called. */
  hold(): void {
    const { sessionLock, onLockTimeout } = this.#options
    const check = () => {
      if (sessionLock.longestWaitMs() < AWAITED_LIMIT_MS) return
      clearInterval(this.#overstayTimer)
      onLockTimeout()
    }
    this.#overstayTimer = setInterval(check, OVERSTAY_CHECK_MS)
    // Checked here too, because statements in quick succession clear the timer before it fires.
    check()
  }

  /** All share one session: this session's settings are saved for its next turn, and reset for the others. */
  async release(): Promise<void> {
    const { db, reapplySettings } = this.#options
    this.#settings = (await db.query<{ name: string; setting: string }>(READ_SETTINGS)).rows
    if (this.#settings.length > 0) {
      await db.exec('reset session authorization; reset all')
      await reapplySettings()
    }
    this.#end?.()
    this.#end = null
  }

  /** The session's last turn, held while `cleanUp` runs. Waits for it without a limit. */
  async releaseAfter(cleanUp: () => Promise<void>): Promise<void> {
    clearInterval(this.#overstayTimer)
    this.#end ??= await this.#options.sessionLock.acquire({ limitMs: Number.POSITIVE_INFINITY })
    try {
      await cleanUp()
    } finally {
      this.#end()
    }
  }
}

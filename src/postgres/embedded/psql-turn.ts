/** One psql session's turn on the embedded database: with the settings that are its own, and no longer than others can wait. */
import type { PGlite } from '@electric-sql/pglite'
import type { Turns } from './embedded-turns.ts'

export interface PsqlTurnOptions {
  db: PGlite
  turns: Turns
  /** Writes what is not yet on disk: a statement that never ends may cost the database its process. */
  flush(): Promise<void>
  /** Called when the turn keeps others waiting too long. */
  onOverstay(): void
}

/** How long a statement waits for another session's transaction. */
const TURN_WAIT_MS = 10_000

/** How long others may wait for a session's transaction; a statement that runs too long is for others to end. */
const AWAITED_LIMIT_MS = 700
const OVERSTAY_CHECK_MS = 100

/** Settings that the session made with SET, and its role, which pg_settings does not list. */
const READ_SETTINGS = `
select name, setting from pg_settings where source = 'session'
union all
select 'role', current_setting('role') where current_setting('role') <> 'none'`
const RESTORE_SETTINGS =
  'select set_config(s.name, s.setting, false) from json_to_recordset($1::json) as s (name text, setting text)'

export class PsqlTurn {
  readonly #options: PsqlTurnOptions
  #settings: { name: string; setting: string }[] = []
  /** While it lasts. */
  #end: (() => void) | null = null
  #overstayTimer: ReturnType<typeof setInterval> | undefined

  constructor(options: PsqlTurnOptions) {
    this.#options = options
  }

  /** Resolves when it has come, at once where it lasts. Rejects where others do not end theirs. */
  async begin(): Promise<void> {
    clearInterval(this.#overstayTimer)
    if (this.#end) return
    const { db, turns, flush } = this.#options
    this.#end = await turns.take({ limitMs: TURN_WAIT_MS })
    await flush()
    if (this.#settings.length === 0) return
    await db.query(RESTORE_SETTINGS, [JSON.stringify(this.#settings)]).catch(() => {
      // A setting may have become impossible, as when its role was dropped; the session goes on with the defaults.
    })
  }

  /** It lasts on, for a transaction is open; once others have waited too long, `onOverstay` is called. */
  keep(): void {
    const { turns, onOverstay } = this.#options
    const check = () => {
      if (turns.awaitedMs() < AWAITED_LIMIT_MS) return
      clearInterval(this.#overstayTimer)
      onOverstay()
    }
    this.#overstayTimer = setInterval(check, OVERSTAY_CHECK_MS)
    // Statements in quick succession leave the timer no time.
    check()
  }

  /** There is one session for all: what this one SET must not reach the others, and be there when it comes back. */
  async giveBack(): Promise<void> {
    const { db } = this.#options
    this.#settings = (await db.query<{ name: string; setting: string }>(READ_SETTINGS)).rows
    if (this.#settings.length > 0) await db.exec('reset session authorization; reset all')
    this.#end?.()
    this.#end = null
  }

  /** The session's last: for as long as `cleanUp` takes, however long others have to be waited for. */
  async endWith(cleanUp: () => Promise<void>): Promise<void> {
    clearInterval(this.#overstayTimer)
    this.#end ??= await this.#options.turns.take({ limitMs: Number.POSITIVE_INFINITY })
    try {
      await cleanUp()
    } finally {
      this.#end()
    }
  }
}

/** One proxy at a time changes the schema: a transaction that begins by claiming the turn, and waits for no table for long. */
import { type Database, type Script, ScriptFailed, sqlStateOf } from './database.ts'
import { type Ledger, refuseUnlessLike } from './ledger.ts'
import { LEDGER, MAKE_ROOM } from './room.ts'

/** Held during a step; is_deploying() looks for it. Its number is the schema's own, as all of the proxy's are. */
const TURN = `hashtext('model_proxy migrate')`
export const ANOTHER_MIGRATES = 'another proxy migrates the database'
const takeTurn = (lockTimeoutMs: number) => `
set local lock_timeout = '${lockTimeoutMs}ms';
set local statement_timeout = '30min';
set local check_function_bodies = off;
do $$ begin
    if not pg_try_advisory_xact_lock(${TURN}) then
        raise exception '${ANOTHER_MIGRATES}' using errcode = 'object_in_use';
    end if;
end $$;`
/** What a step waits for, by the SQLSTATE that it ended with: all that another proxy or a request can cause, and nothing else. */
const WAITS_FOR: Readonly<Record<string, string>> = {
  '55006': ANOTHER_MIGRATES,
  '40001': ANOTHER_MIGRATES,
  '55P03': 'a table is in use',
  '40P01': 'a table is in use',
}

/** One piece of work. After it, the ledger is read anew, and what is missing then is next. */
export interface Work {
  applies: readonly string[]
  /** Resolves with what it waits for, or null once it is done. */
  run(database: Database, ledger: Ledger, lockTimeoutMs: number): Promise<string | null>
}

export async function tryWork(database: Database, work: Work, ledger: Ledger, lockTimeoutMs: number) {
  try {
    return await work.run(database, ledger, lockTimeoutMs)
  } catch (error) {
    const reason = waitsFor(error)
    if (reason !== undefined) return reason
    throw error
  }
}

export function waitsFor(error: unknown): string | undefined {
  const cause = error instanceof ScriptFailed ? error.cause : error
  return WAITS_FOR[sqlStateOf(cause) ?? '']
}

/** In one transaction, unless another proxy has migrated since the ledger was read. */
export async function runLocked(
  [database, ledger, lockTimeoutMs]: Parameters<Work['run']>,
  scripts: readonly Script[],
): Promise<null> {
  const prepare = {
    name: 'The ledger of migrations',
    text: `${takeTurn(lockTimeoutMs)}${MAKE_ROOM}${LEDGER}${refuseUnlessLike(ledger)}`,
  }
  await database.runScripts([prepare, ...scripts])
  return null
}

export async function isMigrating(database: Database): Promise<boolean> {
  const [turn] = await database.call<{ free: boolean }>(`select pg_try_advisory_xact_lock_shared(${TURN}) as free`, [])
  return turn?.free === false
}

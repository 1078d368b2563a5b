/** One proxy at a time changes the schema: a transaction that begins by claiming the turn, and waits for no table for long. */
import { type Database, ScriptError, type SqlScript, sqlStateOf } from './database.ts'
import { buildLedgerAssertion, type MigrationLedger } from './migration-ledger.ts'
import { CREATE_LEDGER, CREATE_SCHEMA } from './schema-prerequisites.ts'

/** Held during a step; is_deploying() looks for it. Its number is the schema's own, as all of the proxy's are. */
const TURN = `hashtext('model_proxy migrate')`
export const MIGRATION_IN_PROGRESS = 'another proxy migrates the database'
const takeTurn = (lockTimeoutMs: number) => `
set local lock_timeout = '${lockTimeoutMs}ms';
set local statement_timeout = '30min';
set local check_function_bodies = off;
do $$ begin
    if not pg_try_advisory_xact_lock(${TURN}) then
        raise exception '${MIGRATION_IN_PROGRESS}' using errcode = 'object_in_use';
    end if;
end $$;`
/** What a step waits for, by the SQLSTATE that it ended with: all that another proxy or a request can cause, and nothing else. */
const WAITS_FOR: Readonly<Record<string, string>> = {
  '55006': MIGRATION_IN_PROGRESS,
  '40001': MIGRATION_IN_PROGRESS,
  '55P03': 'a table is in use',
  '40P01': 'a table is in use',
}

/** One piece of work. After it, the ledger is read anew, and what is missing then is next. */
export interface MigrationTask {
  appliedNames: readonly string[]
  /** Resolves with what it waits for, or null once it is done. */
  run(database: Database, ledger: MigrationLedger, lockTimeoutMs: number): Promise<string | null>
}

export async function tryMigrationTask(
  database: Database,
  work: MigrationTask,
  ledger: MigrationLedger,
  lockTimeoutMs: number,
) {
  try {
    return await work.run(database, ledger, lockTimeoutMs)
  } catch (error) {
    const reason = describeLockConflict(error)
    if (reason !== undefined) return reason
    throw error
  }
}

export function describeLockConflict(error: unknown): string | undefined {
  const cause = error instanceof ScriptError ? error.cause : error
  return WAITS_FOR[sqlStateOf(cause) ?? '']
}

/** In one transaction, unless another proxy has migrated since the ledger was read. */
export async function runWithMigrationLock(
  [database, ledger, lockTimeoutMs]: Parameters<MigrationTask['run']>,
  scripts: readonly SqlScript[],
): Promise<null> {
  const prepare = {
    name: 'The ledger of migrations',
    text: `${takeTurn(lockTimeoutMs)}${CREATE_SCHEMA}${CREATE_LEDGER}${buildLedgerAssertion(ledger)}`,
  }
  await database.runScripts([prepare, ...scripts])
  return null
}

export async function isMigrating(database: Database): Promise<boolean> {
  const [turn] = await database.call<{ free: boolean }>(`select pg_try_advisory_xact_lock_shared(${TURN}) as free`, [])
  return turn?.free === false
}

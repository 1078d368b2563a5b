/** Lets one proxy at a time change the schema. Each transaction takes an advisory lock first, and limits its waits for table locks. */
import { type Database, ScriptError, type SqlScript, sqlStateOf } from './database.ts'
import { buildLedgerAssertion, type MigrationLedger } from './migration-ledger.ts'
import { CREATE_LEDGER, CREATE_SCHEMA } from './schema-prerequisites.ts'

/** The key of the advisory lock that is held during a step. is_deploying() checks it. It differs by schema, as all keys of the proxy do. */
const MIGRATION_LOCK = `hashtext('model_proxy migrate')`
export const MIGRATION_IN_PROGRESS = 'another proxy migrates the database'
const lockStatement = (lockTimeoutMs: number) => `
set local lock_timeout = '${lockTimeoutMs}ms';
set local statement_timeout = '30min';
set local check_function_bodies = off;
do $$ begin
    if not pg_try_advisory_xact_lock(${MIGRATION_LOCK}) then
        raise exception '${MIGRATION_IN_PROGRESS}' using errcode = 'object_in_use';
    end if;
end $$;`
/** The reason why a step must wait, by the SQLSTATE with which it failed. Lists only failures that another proxy or a request can cause. */
const WAIT_REASONS: Readonly<Record<string, string>> = {
  '55006': MIGRATION_IN_PROGRESS,
  '40001': MIGRATION_IN_PROGRESS,
  '55P03': 'a table is in use',
  '40P01': 'a table is in use',
}

/** A unit of work. After it, the ledger is read again, and the next missing unit follows. */
export interface MigrationTask {
  appliedNames: readonly string[]
  /** Resolves to the reason why it must wait, or to null once it is done. */
  run(database: Database, ledger: MigrationLedger, lockTimeoutMs: number): Promise<string | null>
}

export async function tryMigrationTask(
  database: Database,
  task: MigrationTask,
  ledger: MigrationLedger,
  lockTimeoutMs: number,
) {
  try {
    return await task.run(database, ledger, lockTimeoutMs)
  } catch (error) {
    const reason = describeLockConflict(error)
    if (reason !== undefined) return reason
    throw error
  }
}

export function describeLockConflict(error: unknown): string | undefined {
  const cause = error instanceof ScriptError ? error.cause : error
  return WAIT_REASONS[sqlStateOf(cause) ?? '']
}

/** Runs scripts in one transaction, under the lock. Fails if another proxy has migrated since the ledger was read. */
export async function runWithMigrationLock(
  [database, ledger, lockTimeoutMs]: Parameters<MigrationTask['run']>,
  scripts: readonly SqlScript[],
): Promise<null> {
  const prepare = {
    name: 'The ledger of migrations',
    text: `${lockStatement(lockTimeoutMs)}${CREATE_SCHEMA}${CREATE_LEDGER}${buildLedgerAssertion(ledger)}`,
  }
  await database.runScripts([prepare, ...scripts])
  return null
}

export async function isMigrating(database: Database): Promise<boolean> {
  const [lock] = await database.call<{ free: boolean }>(
    `select pg_try_advisory_xact_lock_shared(${MIGRATION_LOCK}) as free`,
    [],
  )
  return lock?.free === false
}

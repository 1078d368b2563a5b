/** Repairs the schema of a database that was partially restored or changed by hand. Reports what cannot be repaired. */
import { checkSchema, type SchemaDifference } from './check-schema.ts'
import { type Database, ScriptError } from './database.ts'
import { type MigrationLedger, recordSchemaFingerprint, SCHEMA_FINGERPRINT_ROW_NAME } from './migration-ledger.ts'
import { describeLockConflict, type MigrationTask, runWithMigrationLock } from './migration-lock.ts'
import { buildIndex } from './migration-steps.ts'
import {
  describeDifference,
  formatDifferenceName,
  planRepair,
  type RepairPlan,
  type SchemaRepairStep,
} from './plan-repair.ts'

export const RESTORE_ADVICE =
  'It was partially restored, or changed by hand: restore it completely, as described in docs/production.md under "Backups".'

/**
 * Raises if rows were not restored. A dump sets sequences after all rows, and before keys and indexes. An unused sequence of a table with
 * rows therefore means that the restore was interrupted.
 */
const REJECT_LOST_ROWS = `
do $$
declare
    counted record;
    has_rows boolean;
begin
    for counted in
        select d.refobjid::regclass as relation, s.schemaname, s.sequencename
        from pg_sequences s
        join pg_class c on c.relname = s.sequencename and c.relnamespace = to_regnamespace('model_proxy')
        join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i'
        where s.schemaname::regnamespace = c.relnamespace and s.last_value is null
    loop
        execute format('select exists (select from %s)', counted.relation) into has_rows;
        if has_rows then
            raise exception 'Table % has rows, and the sequence of its ids was not restored, so rows may be missing', counted.relation;
        end if;
    end loop;
end $$;`

/** Finds tables larger than 64 MB. Their indexes are built concurrently. */
const FIND_LARGE_TABLES = `
select c.relname as name
from pg_class c
where c.relnamespace = to_regnamespace('model_proxy') and c.relkind = 'r' and pg_relation_size(c.oid) > 64 * 1048576`

/** Matches a repair that only creates an index. */
const INDEX_ON = /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) [^\n]*$/
const STILL_DIFFERS = 'it was recreated, and still differs'

export class SchemaRepairer {
  repaired: string[] = []
  /** The names of attempted repairs, each with the reason why the item may still differ. */
  readonly #attempted = new Map<string, string>()
  readonly #announced = new Set<string>()

  constructor(
    private readonly deploy: () => MigrationTask | null,
    private readonly onRepair: (names: readonly string[]) => void,
  ) {}

  /**
   * Returns the next repair; null if nothing differs. `isNew` is true if this start has created the schema. Throws an error with the names of
   * all items that cannot be repaired.
   */
  async nextTask(database: Database, ledger: MigrationLedger, isNew: boolean): Promise<MigrationTask | null> {
    const check = await checkSchema(database, ledger.get(SCHEMA_FINGERPRINT_ROW_NAME), isNew)
    if (check === null) return null
    const isAttempted = (difference: SchemaDifference) => this.#attempted.has(formatDifferenceName(difference))
    const plan = planRepair(check.differences.filter(difference => !isAttempted(difference)))
    const remaining = check.differences.filter(difference => isAttempted(difference) && !isTolerated(difference))
    if (plan.unrepairable.length > 0) throw this.#createError(check.schema, [...plan.unrepairable, ...remaining])
    if (this.repaired.length === 0 && check.differences.length > 0) await rejectLostRows(database)
    const work = await this.#plan(database, plan)
    if (work !== null) return work
    if (remaining.length > 0) throw this.#createError(check.schema, remaining)
    // Grants to a missing role remain, because the user of the database may not create it.
    const missing = new Set(check.differences.map(formatDifferenceName))
    this.repaired = this.repaired.filter(name => !missing.has(name))
    await recordSchemaFingerprint(database, check.fingerprint)
    return null
  }

  #createError(schema: string, differences: readonly SchemaDifference[]): Error {
    const lines = differences.map(difference => {
      const reason = this.#attempted.get(formatDifferenceName(difference))
      return `  ${describeDifference(difference, schema)}${reason === undefined ? '' : ` (${reason})`}`
    })
    return new Error(`the database differs from this version's schema:\n${lines.join('\n')}\n${RESTORE_ADVICE}`)
  }

  /** Returns the next repair in order: columns, keys, constraints and indexes; views and functions; then triggers, policies and grants. */
  async #plan(database: Database, { before, deployed, after }: RepairPlan): Promise<MigrationTask | null> {
    const large = before.length === 0 ? [] : await database.call<{ name: string }>(FIND_LARGE_TABLES, [])
    const isOnLarge = ({ text }: SchemaRepairStep) => large.some(({ name }) => INDEX_ON.exec(text)?.[1] === name)
    const locked = before.filter(repair => !isOnLarge(repair))
    const [index] = before
    if (locked.length > 0) return this.#repair(locked, runScripts)
    if (index) return this.#repair([index], buildMissingIndex)
    if (deployed.length > 0) {
      this.#announce(deployed)
      this.#recordRepair(deployed)
      return this.deploy()
    }
    if (after.length > 0) return this.#repair(after, runScripts)
    return null
  }

  /** Reports each repair once, even if it must wait and is retried. */
  #announce(names: readonly string[]): void {
    const fresh = names.filter(name => !this.#announced.has(name))
    for (const name of fresh) this.#announced.add(name)
    if (fresh.length > 0) this.onRepair(fresh)
  }

  #recordRepair(names: readonly string[]): void {
    for (const name of names) this.#attempted.set(name, STILL_DIFFERS)
    this.repaired.push(...names)
  }

  /** Runs repairs together. One that fails is skipped, and the next task runs the others without it. */
  #repair(
    repairs: readonly SchemaRepairStep[],
    run: (given: Parameters<MigrationTask['run']>, repairs: readonly SchemaRepairStep[]) => Promise<string | null>,
  ): MigrationTask {
    return {
      appliedNames: [],
      run: async (...given) => {
        const names = repairs.flatMap(({ resolvedDifferences }) => resolvedDifferences)
        this.#announce(names)
        try {
          const reason = await run(given, repairs)
          if (reason !== null) return reason
          this.#recordRepair(names)
        } catch (error) {
          const failed = error instanceof ScriptError ? repairs.find(({ name }) => name === error.script) : repairs[0]
          if (failed === undefined || describeLockConflict(error) !== undefined) throw error
          for (const name of failed.resolvedDifferences) this.#attempted.set(name, messageOf(error))
        }
        return null
      },
    }
  }
}

/** Returns true for a missing grant: the user of the database may not create the role. The start logs what to run. */
function isTolerated({ item, actual }: SchemaDifference): boolean {
  return item.startsWith('grant ') && actual === null
}

function messageOf(error: unknown): string {
  const cause = error instanceof ScriptError ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

function runScripts(given: Parameters<MigrationTask['run']>, repairs: readonly SchemaRepairStep[]): Promise<null> {
  return runWithMigrationLock(given, repairs)
}

function buildMissingIndex(
  [database]: Parameters<MigrationTask['run']>,
  [index]: readonly SchemaRepairStep[],
): Promise<string | null> {
  const text = index?.text.replace(' INDEX ', ' index concurrently ').replace(' ON ', ' on model_proxy.') ?? ''
  return buildIndex(database, text.replace(/^CREATE/, 'create'))
}

async function rejectLostRows(database: Database): Promise<void> {
  await database.runScript(REJECT_LOST_ROWS).catch(error => {
    throw new Error(`${messageOf(error)}. ${RESTORE_ADVICE}`)
  })
}

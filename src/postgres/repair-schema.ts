/** Repairs the schema of a database that was restored in part, or changed by hand, and names what it cannot repair. */
import { checkSchema, type SchemaDifference } from './check-schema.ts'
import { type Database, ScriptError } from './database.ts'
import { FINGERPRINT_ROW, type MigrationLedger, recordSchemaFingerprint } from './migration-ledger.ts'
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
  'It was restored in part, or changed by hand: restore it whole, as docs/production.md says under "Backups".'

/**
 * A dump ends its rows with the state of sequences, before keys and indexes. So a sequence that has given nothing out, beside a table with
 * rows, means that some rows were not restored.
 */
const REFUSE_LOST_ROWS = `
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

/** Tables that are made for large groups are not part of the schema. */
const INDEX_LISTS = `
select index_cache_lists(substring(c.relname from '[0-9]+$')::bigint)
from pg_class c
where c.relnamespace = 'model_proxy'::regnamespace
    and c.relname ~ '^cache_lists_[0-9]+$'
    and c.relkind = 'r'
    and not exists (select from pg_index i where i.indrelid = c.oid);`

/** Their indexes are built while others write. */
const FIND_LARGE = `
select c.relname as name
from pg_class c
where c.relnamespace = to_regnamespace('model_proxy') and c.relkind = 'r' and pg_relation_size(c.oid) > 64 * 1048576`

/** Of a repair that does nothing else than to create an index. */
const INDEX_ON = /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) [^\n]*$/
const STILL_DIFFERS = 'it was created again, and still differs'

export class SchemaRepairer {
  repaired: string[] = []
  /** What was tried to be repaired, and the reason why it still differs if it does. */
  readonly #tried = new Map<string, string>()
  readonly #announced = new Set<string>()

  constructor(
    private readonly deploy: () => MigrationTask | null,
    private readonly onRepair: (names: readonly string[]) => void,
  ) {}

  /**
   * Null when nothing differs. `isNew`: this start has created all of it. Throws, with the name of each, when something cannot be created
   * again.
   */
  async nextTask(database: Database, ledger: MigrationLedger, isNew: boolean): Promise<MigrationTask | null> {
    const check = await checkSchema(database, ledger.get(FINGERPRINT_ROW), isNew)
    if (check === null) return null
    const isTried = (difference: SchemaDifference) => this.#tried.has(formatDifferenceName(difference))
    const plan = planRepair(check.differences.filter(difference => !isTried(difference)))
    const remaining = check.differences.filter(difference => isTried(difference) && !isTolerated(difference))
    if (plan.unrepairable.length > 0) throw this.#refuse(check.schema, [...plan.unrepairable, ...remaining])
    if (this.repaired.length === 0 && check.differences.length > 0) await refuseLostRows(database)
    const work = await this.#plan(database, plan)
    if (work !== null) return work
    if (remaining.length > 0) throw this.#refuse(check.schema, remaining)
    // Grants to a role that this database's user may not create.
    const missing = new Set(check.differences.map(formatDifferenceName))
    this.repaired = this.repaired.filter(name => !missing.has(name))
    await recordSchemaFingerprint(database, check.fingerprint)
    return null
  }

  #refuse(schema: string, differences: readonly SchemaDifference[]): Error {
    const lines = differences.map(difference => {
      const reason = this.#tried.get(formatDifferenceName(difference))
      return `  ${describeDifference(difference, schema)}${reason === undefined ? '' : ` (${reason})`}`
    })
    return new Error(`The database differs from this version's schema:\n${lines.join('\n')}\n${RESTORE_ADVICE}`)
  }

  /** Columns, keys, constraints and indexes; then views and functions; then what refers to them. */
  async #plan(database: Database, { before, deployed, after }: RepairPlan): Promise<MigrationTask | null> {
    const large = before.length === 0 ? [] : await database.call<{ name: string }>(FIND_LARGE, [])
    const isOnLarge = ({ text }: SchemaRepairStep) => large.some(({ name }) => INDEX_ON.exec(text)?.[1] === name)
    const locked = before.filter(repair => !isOnLarge(repair))
    const [index] = before
    if (locked.length > 0) return this.#repair(locked, runScripts)
    if (index) return this.#repair([index], buildOne)
    if (deployed.length > 0) {
      this.#announce(deployed)
      this.#finish(deployed)
      return this.deploy()
    }
    if (after.length > 0)
      return this.#repair([...after, { name: 'lists', text: INDEX_LISTS, resolvedDifferences: [] }], runScripts)
    return null
  }

  /** Once, however often it waits for others. */
  #announce(names: readonly string[]): void {
    const fresh = names.filter(name => !this.#announced.has(name))
    for (const name of fresh) this.#announced.add(name)
    if (fresh.length > 0) this.onRepair(fresh)
  }

  #finish(names: readonly string[]): void {
    for (const name of names) this.#tried.set(name, STILL_DIFFERS)
    this.repaired.push(...names)
  }

  /** Together. One that fails is left out, and the others run without it next. */
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
          this.#finish(names)
        } catch (error) {
          const failed = error instanceof ScriptError ? repairs.find(({ name }) => name === error.script) : repairs[0]
          if (failed === undefined || describeLockConflict(error) !== undefined) throw error
          for (const name of failed.resolvedDifferences) this.#tried.set(name, messageOf(error))
        }
        return null
      },
    }
  }
}

/** A role that the database's user may not create: the dashboard shows nothing, and says so. */
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

function buildOne(
  [database]: Parameters<MigrationTask['run']>,
  [index]: readonly SchemaRepairStep[],
): Promise<string | null> {
  const text = index?.text.replace(' INDEX ', ' index concurrently ').replace(' ON ', ' on model_proxy.') ?? ''
  return buildIndex(database, text.replace(/^CREATE/, 'create'))
}

async function refuseLostRows(database: Database): Promise<void> {
  await database.runScript(REFUSE_LOST_ROWS).catch(error => {
    throw new Error(`${messageOf(error)}. ${RESTORE_ADVICE}`)
  })
}

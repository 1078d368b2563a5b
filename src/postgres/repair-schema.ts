/** Repairs the schema of a database that was restored in part, or changed by hand, and names what it cannot repair. */
import { checkSchema, type Difference } from './check-schema.ts'
import { type Database, ScriptFailed } from './database.ts'
import { CHECKED, type Ledger, recordChecked } from './ledger.ts'
import { runLocked, type Work, waitsFor } from './locked-work.ts'
import { buildIndex } from './migration-steps.ts'
import { describeDifference, nameDifference, planRepair, type Repair, type RepairPlan } from './plan-repair.ts'

export const RESTORE =
  'It was restored in part, or changed by hand: restore it whole, as docs/production.md says under "Backups".'

/** What rows say, once their keys are there again: numbers that were given out, and lists of codes without an index. */
const FOLLOW_ROWS = `
do $$
declare
    counted record;
    most bigint;
begin
    for counted in
        select format('%I', c.relname) as relation, a.attname as name, pg_get_serial_sequence(format('%I', c.relname), a.attname) as sequence
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attidentity <> '' and not a.attisdropped
        where c.relnamespace = 'model_proxy'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    loop
        execute format('select max(%I) from %s', counted.name, counted.relation) into most;
        if most >= (select coalesce(s.last_value + 1, s.start_value) from pg_sequences s where format('%I.%I', s.schemaname, s.sequencename)::regclass = counted.sequence::regclass) then
            perform setval(counted.sequence, most);
        end if;
    end loop;
    select max(substring(c.relname from '[0-9]+$')::bigint) into most
    from pg_class c
    where c.relnamespace = 'model_proxy'::regnamespace and c.relname ~ '^cache_lists_[0-9]+$' and c.relkind = 'r';
    if most >= (select n.last_value from cache_lists_numbers n) then
        perform setval('cache_lists_numbers', most);
    end if;
    perform index_cache_lists(substring(c.relname from '[0-9]+$')::bigint)
    from pg_class c
    where c.relnamespace = 'model_proxy'::regnamespace
        and c.relname ~ '^cache_lists_[0-9]+$'
        and c.relkind = 'r'
        and to_regprocedure('index_cache_lists(bigint)') is not null
        and not exists (select from pg_index i where i.indrelid = c.oid);
end $$;`

/** Their indexes are built while others write. */
const FIND_LARGE = `
select c.relname as name
from pg_class c
where c.relnamespace = to_regnamespace('model_proxy') and c.relkind = 'r' and pg_relation_size(c.oid) > 64 * 1048576`

/** Of a repair that does nothing else than to create an index. */
const INDEX_ON = /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) [^\n]*$/
const STILL_DIFFERS = 'it was created again, and still differs'

export class SchemaRepair {
  readonly repaired: string[] = []
  /** What was tried to be repaired, and the reason why it still differs if it does. */
  readonly #tried = new Map<string, string>()
  readonly #announced = new Set<string>()

  constructor(
    private readonly deploy: () => Work | null,
    private readonly onRepair: (names: readonly string[]) => void,
  ) {}

  /**
   * Null when nothing differs. `isNew`: this start has created all of it. Throws, with the name of each, when something cannot be created
   * again.
   */
  async next(database: Database, ledger: Ledger, isNew: boolean): Promise<Work | null> {
    const check = await checkSchema(database, ledger.get(CHECKED), isNew)
    if (check === null) return null
    const isTried = (difference: Difference) => this.#tried.has(nameDifference(difference))
    const plan = planRepair(check.differences.filter(difference => !isTried(difference)))
    const remaining = check.differences.filter(difference => isTried(difference) && !isTolerated(difference))
    if (plan.lost.length > 0) throw this.#refuse(check.schema, [...plan.lost, ...remaining])
    const work = await this.#plan(database, plan)
    if (work !== null) return work
    if (remaining.length > 0) throw this.#refuse(check.schema, remaining)
    await recordChecked(database, check.fingerprint)
    return null
  }

  #refuse(schema: string, differences: readonly Difference[]): Error {
    const lines = differences.map(difference => {
      const reason = this.#tried.get(nameDifference(difference))
      return `  ${describeDifference(difference, schema)}${reason === undefined ? '' : ` (${reason})`}`
    })
    return new Error(`The database differs from this version's schema:\n${lines.join('\n')}\n${RESTORE}`)
  }

  /** Columns, keys, constraints and indexes; then views and functions; then what refers to them. */
  async #plan(database: Database, { before, deployed, after }: RepairPlan): Promise<Work | null> {
    const large = before.length === 0 ? [] : await database.call<{ name: string }>(FIND_LARGE, [])
    const isOnLarge = ({ text }: Repair) => large.some(({ name }) => INDEX_ON.exec(text)?.[1] === name)
    const locked = before.filter(repair => !isOnLarge(repair))
    const [index] = before
    if (locked.length > 0) return this.#repair(locked, runScripts)
    if (index) return this.#repair([index], buildOne)
    if (deployed.length > 0) {
      this.#announce(deployed)
      this.#finish(deployed)
      return this.deploy()
    }
    return after.length > 0 ? this.#repair(after, runScripts) : null
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
  #repair(repairs: readonly Repair[], run: (given: Parameters<Work['run']>, repairs: readonly Repair[]) => Promise<string | null>): Work {
    return {
      applies: [],
      run: async (...given) => {
        const names = repairs.flatMap(({ ends }) => ends)
        this.#announce(names)
        try {
          const reason = await run(given, repairs)
          if (reason !== null) return reason
          this.#finish(names)
        } catch (error) {
          const failed = error instanceof ScriptFailed ? repairs.find(({ name }) => name === error.script) : repairs[0]
          if (failed === undefined || waitsFor(error) !== undefined) throw error
          for (const name of failed.ends) this.#tried.set(name, messageOf(error))
        }
        return null
      },
    }
  }
}

/** A role that the database's user may not create: the dashboard shows nothing, and says so. */
function isTolerated({ item, found }: Difference): boolean {
  return item.startsWith('grant ') && found === null
}

function messageOf(error: unknown): string {
  const cause = error instanceof ScriptFailed ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

function runScripts(given: Parameters<Work['run']>, repairs: readonly Repair[]): Promise<null> {
  return runLocked(given, [...repairs, { name: 'sequences and lists', text: FOLLOW_ROWS }])
}

function buildOne([database]: Parameters<Work['run']>, [index]: readonly Repair[]): Promise<string | null> {
  const text = index?.text.replace(' INDEX ', ' index concurrently ').replace(' ON ', ' on model_proxy.') ?? ''
  return buildIndex(database, text.replace(/^CREATE/, 'create'))
}

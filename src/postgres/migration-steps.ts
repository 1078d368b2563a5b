/** Builds migration steps that need more than a plain script: batches of rows, concurrent indexes, and views with changed columns. */
import { type Database, sqlStateOf } from './database.ts'

/** Builds a script that runs one batch. Runs `ledgerInsert` once no row is left; until then, the step is not in the ledger and runs again. */
export function buildBatchScript(text: string, ledgerInsert: string): string {
  return `do $deploy$
declare
    moved integer;
begin
    execute $batch$${text.trim().replace(/;$/, '')}$batch$ into moved;
    if moved = 0 then
        ${ledgerInsert}
    end if;
end $deploy$;`
}

const INDEX_NAME = /create (?:unique )?index concurrently (?:if not exists )?(\w+)/i
/** An index that is still being built is also marked invalid. */
const READ_INDEX = `
select i.indisvalid as "isValid", exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid) as "isBuilt"
from pg_index i
where i.indexrelid = to_regclass('model_proxy.' || $1::text)`

/** The time limit for building an index. The statement runs outside a transaction, so it cannot set its own limit. */
const BUILD_TIME_LIMIT_MS = 4 * 3_600_000
/** SQLSTATE: duplicate_table. */
const EXISTS = '42P07'

/**
 * Builds an index. `text` must qualify its table with the schema, because a statement outside a transaction has no search path. Resolves to
 * what it waits for, or to null once the index is valid.
 */
export async function buildIndex(database: Database, text: string): Promise<string | null> {
  const [, name = ''] = INDEX_NAME.exec(text) ?? []
  // The embedded database has one session, so a concurrent build has no advantage.
  if (database.backend === 'embedded') {
    await database.runScript(text.replace(/ concurrently /i, ' '))
    return null
  }
  const [index] = await database.call<{ isValid: boolean; isBuilt: boolean }>(READ_INDEX, [name])
  if (index?.isValid) return null
  // A build that was interrupted leaves an invalid index.
  if (index && !index.isBuilt) await database.runScript(`drop index concurrently if exists model_proxy.${name}`)
  try {
    await database.runScript(text, BUILD_TIME_LIMIT_MS)
    return null
  } catch (error) {
    if (sqlStateOf(error) === EXISTS) return `another proxy builds the index ${name}`
    throw error
  }
}

/**
 * Builds a script that creates or replaces a view or function. PostgreSQL cannot replace a view whose columns changed, or a function whose
 * result type changed. Only these are dropped, with their dependents, and created again: the lock on a dropped view blocks its readers until
 * the deploy ends.
 */
export function buildReplaceScript(text: string): string {
  const view = /^create or replace view (\w+)/m.exec(text)
  const func = /^comment on function (\w+\([^)]*\)) is/m.exec(text)
  const drop = view ? `drop view ${view[1]} cascade` : func ? `drop function ${func[1]} cascade` : null
  if (drop === null) return text
  return `do $deploy$ begin
    execute $text$${text}$text$;
exception when invalid_table_definition or invalid_function_definition then
    ${drop};
    execute $text$${text}$text$;
end $deploy$;`
}

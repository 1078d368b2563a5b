/** What a deploy does that a plain script does not: rows a batch at a time, indexes that lock nobody out, views with other columns. */
import { type Database, sqlStateOf } from './database.ts'

/** One batch, or the note that none is left: the ledger then still lacks the step, and it is run again. */
export function buildBatchScript(text: string, note: string): string {
  return `do $deploy$
declare
    moved integer;
begin
    execute $batch$${text.trim().replace(/;$/, '')}$batch$ into moved;
    if moved = 0 then
        ${note}
    end if;
end $deploy$;`
}

const INDEX_NAME = /create (?:unique )?index concurrently (?:if not exists )?(\w+)/i
/** An index that is being built is not valid yet, either. */
const READ_INDEX = `
select i.indisvalid as "isValid", exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid) as "isBuilt"
from pg_index i
where i.indexrelid = to_regclass('model_proxy.' || $1::text)`

/** It cannot be set within the statement, which runs in no transaction. */
const BUILD_TIME_LIMIT_MS = 4 * 3_600_000
/** SQLSTATE: duplicate_table. */
const EXISTS = '42P07'

/**
 * Its table is written with its schema, since nothing sets a search path for a statement that runs outside of a transaction. Resolves with
 * what it waits for, or null once the index is there.
 */
export async function buildIndex(database: Database, text: string): Promise<string | null> {
  const [, name = ''] = INDEX_NAME.exec(text) ?? []
  // The embedded database has one session: nobody would wait.
  if (database.backend === 'embedded') {
    await database.runScript(text.replace(/ concurrently /i, ' '))
    return null
  }
  const [index] = await database.call<{ isValid: boolean; isBuilt: boolean }>(READ_INDEX, [name])
  if (index?.isValid) return null
  // Builders that were stopped leave an index that is of no use.
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
 * Postgres cannot replace a view whose columns changed, or a function whose result changed. It is dropped with everything that depends on
 * it, and created again. Only if necessary, because the lock on a view blocks its users until the deploy ends.
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

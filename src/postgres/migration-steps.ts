/** What a migration's steps do that a plain script does not: a batch at a time, and indexes that lock nobody out. */
import type { Database } from './database.ts'

/** One batch, or the note that none is left: the ledger then still lacks the step, and it is run again. */
export function moveBatch(text: string, note: string): string {
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
where i.indexrelid = to_regclass($1::text)`

export async function buildIndex(database: Database, text: string): Promise<void> {
  // The embedded database has one session: nobody would wait.
  if (database.backend === 'embedded') return database.runScript(text.replace(/ concurrently /i, ' '))
  const [, name = ''] = INDEX_NAME.exec(text) ?? []
  const [index] = await database.call<{ isValid: boolean; isBuilt: boolean }>(READ_INDEX, [name])
  if (index?.isValid) return
  // Builders that were stopped leave an index that is of no use.
  if (index && !index.isBuilt) await database.runScript(`drop index concurrently if exists ${name}`)
  await database.runScript(text)
}

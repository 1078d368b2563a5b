/** The settings of the proxy's session on the embedded database, where `alter role` or `alter database` has set others. */
import type { PGlite } from '@electric-sql/pglite'
import { findSettingMismatches, REQUIRED_SETTINGS } from '../session-settings.ts'

const READ = 'select name, current_setting(name, true) as value from json_array_elements_text($1::json) as name'
const SET =
  'select set_config(s.name, s.required, false) from json_to_recordset($1::json) as s (name text, required text)'

/** Returns a function that sets them again, after a psql session's were reset. */
export async function applySessionSettings(db: PGlite): Promise<() => Promise<void>> {
  const { rows } = await db.query<{ name: string; value: string | null }>(READ, [JSON.stringify(REQUIRED_SETTINGS)])
  const wrong = findSettingMismatches(Object.fromEntries(rows.map(({ name, value }) => [name, value])))
    // PGlite's own; it has no other session to wait for.
    .filter(({ name }) => name !== 'client_encoding')
  const restate = async () => {
    if (wrong.length > 0) await db.query(SET, [JSON.stringify(wrong)])
  }
  await restate()
  return restate
}

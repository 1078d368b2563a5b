/** Sets the required settings of the proxy's session on the embedded database, because a role or a database may have changed them. */
import type { PGlite } from '@electric-sql/pglite'
import { findSettingMismatches, REQUIRED_SETTINGS } from '../session-settings.ts'

const READ = 'select name, current_setting(name, true) as value from json_array_elements_text($1::json) as name'
const SET =
  'select set_config(s.name, s.required, false) from json_to_recordset($1::json) as s (name text, required text)'

/** Sets the settings. Returns a function that sets them again, to call after a psql session's settings were reset. */
export async function applySessionSettings(db: PGlite): Promise<() => Promise<void>> {
  const { rows } = await db.query<{ name: string; value: string | null }>(READ, [JSON.stringify(REQUIRED_SETTINGS)])
  const mismatches = findSettingMismatches(Object.fromEntries(rows.map(({ name, value }) => [name, value])))
    // PGlite sets client_encoding itself.
    .filter(({ name }) => name !== 'client_encoding')
  const reapplySettings = async () => {
    if (mismatches.length > 0) await db.query(SET, [JSON.stringify(mismatches)])
  }
  await reapplySettings()
  return reapplySettings
}

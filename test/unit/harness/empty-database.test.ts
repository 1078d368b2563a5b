import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EMPTIED_TABLES } from '../../harness/empty-database.ts'

/** Tables of seeds and of the installation, and those whose rows end with their process or follow another table's. */
const KEPT = [
  ...['admission_slots', 'applied_batches', 'embedding_spaces', 'installation', 'minute_counts', 'model_prices'],
  ...['model_unit_prices', 'models', 'plans', 'schema_migrations', 'service_settings', 'setting_kinds'],
  ...['vendors', 'webhook_event_types'],
]

test('a test finds no rows of the one before, in any table', () => {
  const schema = readFileSync(join(import.meta.dirname, '../../../sql/schema.txt'), 'utf8')
  const tables = [...schema.matchAll(/^table (\w+)$/gm)].map(([, name]) => name)
  expect(tables.filter(name => !EMPTIED_TABLES.includes(name ?? '')).sort()).toEqual(KEPT.sort())
})

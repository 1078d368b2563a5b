import { expect, test } from 'vitest'
import type { Database } from '../../../src/postgres/database.ts'
import { withSchema } from '../../../src/postgres/schema-name.ts'

test('passes the time limit of a script on, and the name of the schema in it', async () => {
  const scripts: unknown[] = []
  const call = async () => []
  const database: Partial<Database> = {
    call,
    readReplica: { call },
    runScript: async (...script) => void scripts.push(script),
  }
  await withSchema(database as Database, 'other').runScript('drop table model_proxy.things', 60_000)
  expect(scripts).toEqual([['drop table "other".things', 60_000]])
})

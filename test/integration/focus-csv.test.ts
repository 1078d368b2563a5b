/** The export of focus_costs that docs/operating.md shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { recordFocusUsage } from './record-focus-usage.ts'
import { psqlPath } from './run-psql.ts'

/** The fields of a line of CSV as SQL values. Text without quotation marks that is empty is null. */
function toValues(line: string): string {
  const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)]
  return fields
    .map(([, quoted, bare]) =>
      bare === '' ? 'null' : `'${(quoted?.replaceAll('""', '"') ?? bare ?? '').replaceAll("'", "''")}'`,
    )
    .join()
}

describe.skipIf(!psqlPath)('the CSV of the docs', () => {
  let database: Awaited<ReturnType<typeof openEmbeddedDatabase>>
  let url: string
  beforeAll(async () => {
    const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
    database = await openEmbeddedDatabase({ directory: null, psql: { port: 0, password: 'test' }, template })
    url = `postgres://postgres:test@127.0.0.1:${database.psqlPort}/postgres`
    await recordFocusUsage(database)
  })
  afterAll(() => database.close())

  // PGTZ=UTC, `\copy (select * from model_proxy.focus_costs where … order by …) to stdout csv header`, and sed for the times.
  test('has the rows of the month, with times as the specification writes them', async () => {
    const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
    const [, block = ''] = /```sh\n([^`]*focus_costs[^`]*)```/.exec(page) ?? []
    const month = new Date().toISOString().slice(0, 7)
    const cwd = createTemporaryDirectory()
    const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', block.replaceAll('2026-10', month)], {
      cwd,
      env: { ...process.env, DATABASE_URL: url },
      stderr: 'pipe',
    })
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(['', 0])
    const file = join(cwd, 'focus-2026-10.csv'.replace('2026-10', month))
    const lines = readFileSync(file, 'utf8').split('\n')
    expect(lines[0]).toMatch(/^BilledCost,BillingAccountId,.*,x_tokens_saved$/)
    expect(lines[1]).toContain(`,${month}-01T00:00:00Z,Usage,`)
    expect(lines.filter(line => line.includes('00:00:00+00'))).toEqual([])
    // Loaded back, it is what the view has.
    await database.runScript('create table loaded as select * from focus_costs limit 0')
    for (const line of lines.slice(1).filter(Boolean))
      await database.runScript(`insert into loaded values (${toValues(line)})`)
    const rows = `select * from focus_costs where "BillingPeriodStart" = '${month}-01Z'`
    for (const [these, those] of [
      [rows, 'select * from loaded'],
      ['select * from loaded', rows],
    ])
      expect(await database.call(`(${these}) except all (${those})`, [])).toEqual([])
    expect(lines.length).toBeGreaterThan(15)
  })
})

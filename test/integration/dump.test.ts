/** docs/sharing.md describes, column by column, which data of requests a database dump contains. */
import { expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { SEALED_COLUMNS } from '../harness/sealed-columns.ts'

describeOnce('a dump of the database', backend => {
  test('contains only request data that the documentation names', async () => {
    const { database } = await backend.open()
    const [, page = ''] = (await Bun.file('docs/sharing.md').text()).split('## What a dump holds')
    const documented = new Set([...page.matchAll(/`([\w.]+)`/g)].map(([, name]) => name))
    const columns = await database.call<{ table: string; column: string }>(
      `
      select c.relname as table, a.attname as column
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'model_proxy'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname ~ '^(cache|kept|judge|semantic|usage|request|latency|rejections|open|monthly)'
        and a.attnum > 0 and not a.attisdropped and format_type(a.atttypid, null) ~ 'text|bytea|json|vector|halfvec'`,
      [],
    )
    expect(columns.length).toBeGreaterThan(60)
    const isDocumented = ({ table, column }: (typeof columns)[number]) =>
      documented.has(table) || documented.has(column) || documented.has(`${table}.${column}`)
    expect(columns.filter(column => !isDocumented(column))).toEqual([])
    const sealed = [...page.matchAll(/^\|.*\| with `seal_answers` \|$/gm)].flatMap(([row]) => [
      ...row.matchAll(/`(\w+\.\w+)`/g),
    ])
    expect(sealed.map(([, name]) => name).toSorted()).toEqual(SEALED_COLUMNS)
  })
})

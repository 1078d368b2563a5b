import { expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'

const TEXTS = ['', 'plain', 'NULL', 'null', 'a"b', 'c\\d\\"', '{e,f}', ' g ', "it's", 'é👩‍👩‍👧', 'x\ny', 'a,b']

describeBackends('values on the wire', backend => {
  async function echo(type: string, value: unknown): Promise<unknown> {
    const { database } = await backend.open()
    const [row] = await database.call<{ value: unknown }>(`select $1::${type} as value`, [value])
    return row?.value
  }

  test.each([
    ['text', 'a\\b"c'],
    ['integer', -7],
    ['bigint', 9_007_199_254_740_991],
    ['double precision', 0.1],
    ['boolean', true],
    ['boolean', false],
    ['date', '2026-03-01'],
    ['text[]', TEXTS],
    ['text[]', []],
    ['integer[]', [1, -2, 3]],
    ['bigint[]', [1, 9_007_199_254_740_991]],
    ['boolean', null],
    ['text[]', null],
  ])('%s %j is returned unchanged', async (type, value) => {
    expect(await echo(type, value)).toEqual(value)
  })

  test('bytes, times, lists with nulls, JSON and vectors are returned unchanged, too', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
    expect(Uint8Array.from((await echo('bytea', bytes)) as Uint8Array)).toEqual(bytes)
    expect(Uint8Array.from((await echo('bytea', Buffer.concat([bytes, bytes]).subarray(1, 3))) as Uint8Array)).toEqual(
      Uint8Array.of(1, 2),
    )
    const at = new Date('2026-02-03T04:05:06.789Z')
    expect(await echo('timestamptz', at)).toEqual(at)
    expect(await echo('text[]', ['a', null])).toEqual(['a', null])
    expect(await echo('text::json', JSON.stringify({ a: ['b"', 1] }))).toEqual({ a: ['b"', 1] })
    expect(await echo('halfvec', '[1,2,3]')).toBe('[1,2,3]')
    expect(await echo('numeric', '12345678901234567890.5')).toBe('12345678901234567890.5')
  })

  test('scripts are one transaction, and the one that failed is named', async () => {
    const { database } = await backend.open()
    const failing = database.runScripts([
      { name: 'good', text: 'create table left_behind (); select 1' },
      { name: 'bad', text: 'select 1; select 1 / 0' },
      { name: 'never', text: 'select 1' },
    ])
    await expect(failing).rejects.toMatchObject({ script: 'bad', cause: { code: '22012' } })
    const [row] = await database.call<{ there: boolean }>(`select to_regclass('left_behind') is not null as there`, [])
    expect(row?.there).toBe(false)
  })

  test('a script’s session settings end with it where others share connections', async () => {
    const { database } = await backend.open()
    if (database.backend === 'embedded') return
    await database.runScript(`set statement_timeout = '77s'`)
    const rows = await Promise.all(
      Array.from({ length: 20 }, () =>
        database.call<{ t: string }>(`select current_setting('statement_timeout') as t`, []),
      ),
    )
    expect(new Set(rows.map(([row]) => row?.t))).toEqual(new Set(['10s']))
  })
})

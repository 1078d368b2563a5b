import postgres from 'postgres'
import { expect, test } from 'vitest'
import { type ArgumentsOf, callFunction, type FunctionName, hasSingleResult } from '../../src/postgres/call.ts'
import { SQL_FUNCTIONS } from '../../src/postgres/functions.generated.ts'
import { describeBackends, describeReal } from '../harness/backends.ts'

/** The statement that calls a function with all of its parameters. */
async function statementOf(name: FunctionName): Promise<string> {
  let statement = ''
  const database = {
    async call(text: string) {
      statement = text
      return []
    },
  }
  const all = Object.fromEntries(Object.keys(SQL_FUNCTIONS[name].takes).map(parameter => [parameter, null]))
  await callFunction(database, name, all as ArgumentsOf<typeof name>)
  return statement
}

/** The database's type: without the marks of optional and nullable, and `text` for a union of words. */
const plain = (type: string) => (type.includes('|') ? 'text' : type.replace(/[?=]$/, ''))

describeReal('generated functions', backend => {
  test('are those of the server, whatever its search path', async () => {
    const { databaseUrl } = await backend.open()
    // A connection without a search path, as behind a pooler that does not forward it.
    const sql = postgres(databaseUrl ?? '', { max: 1, fetch_types: false, connection: { search_path: 'pg_catalog' } })
    const rows = await sql.unsafe(`select oid::integer as oid, format_type(oid, null) as name from pg_type`)
    const types = new Map(
      rows.map(({ oid, name }) => [oid, name.replace('timestamp with time zone', 'timestamptz').replace(/^\w+\./, '')]),
    )
    const names = Object.keys(SQL_FUNCTIONS) as FunctionName[]
    expect(names.length).toBeGreaterThan(150)
    for (const name of names) {
      const { columns } = await sql.unsafe(await statementOf(name)).describe()
      const { gives }: { gives: string | Record<string, string> } = SQL_FUNCTIONS[name]
      const declared = typeof gives === 'string' ? { result: gives } : gives
      const described = columns.map(column => [column.name, types.get(column.type)])
      expect([name, described]).toEqual([name, Object.entries(declared).map(([column, type]) => [column, plain(type)])])
    }
    await sql.end()
  })
})

describeBackends('values of calls', backend => {
  test('have the stated types', async () => {
    const { database } = await backend.open()
    const [row] = await database.call<Record<string, unknown>>(
      `select 7::bigint as bigint, 7::integer as integer, 7::smallint as smallint, 0.5::double precision as double, 0.5::real as real,
        0.10::numeric as numeric, true as boolean, 'é' as text, '00000000-0000-0000-0000-000000000007'::uuid as uuid,
        '2026-10-25'::date as date, '2026-10-25T00:30:00Z'::timestamptz as timestamptz, '\\x00ff'::bytea as bytea,
        '{"a":[1]}'::json as json, '{"a":[1]}'::jsonb as jsonb, array[1, null]::bigint[] as numbers,
        array['a,b', '"', '\\', '', null]::text[] as texts, null::bigint as nothing`,
      [],
    )
    expect(row).toMatchObject({
      bigint: 7,
      integer: 7,
      smallint: 7,
      double: 0.5,
      real: 0.5,
      numeric: '0.10',
      boolean: true,
      text: 'é',
      uuid: '00000000-0000-0000-0000-000000000007',
      date: '2026-10-25',
      timestamptz: new Date('2026-10-25T00:30:00Z'),
      json: { a: [1] },
      jsonb: { a: [1] },
      numbers: [1, null],
      texts: ['a,b', '"', '\\', '', null],
      nothing: null,
    })
    expect(Buffer.from(row?.bytea as Uint8Array).toString('hex')).toBe('00ff')
  })

  test('a single value is returned alone, rows as a list, nothing as nothing', async () => {
    const { database } = await backend.open()
    const id = await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    expect(id).toBe(await callFunction(database, 'find_project', { project: 'acme' }))
    expect(await callFunction(database, 'find_password_hash', { of_email: 'nobody@example.com' })).toBeNull()
    expect(await callFunction(database, 'delete_response_entries', { of_project: id, response_id: 'resp_1' })).toEqual(
      [],
    )
    expect((await callFunction(database, 'list_setting_kinds', {})).map(({ name }) => name)).toContain('cache_mode')
    expect(hasSingleResult('create_project') && !hasSingleResult('list_setting_kinds')).toBe(true)
  })

  test('JSON, bytes and half a surrogate pair are preserved', async () => {
    const { database } = await backend.open()
    const of_project = await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const payload = { text: 'half \ud800 of "é\\', numbers: [1, null] }
    await callFunction(database, 'raise_event', { of_project, kind: 'circuit.opened', payload })
    await callFunction(database, 'raise_event', {
      of_project,
      kind: 'circuit.opened',
      payload: { numbers: [] },
      once: 'once',
    })
    const events = await database.call<{ payload: unknown }>(
      `select payload from events where kind = 'circuit.opened' order by once nulls first`,
      [],
    )
    expect(events.map(event => event.payload)).toEqual([
      { text: 'half \ufffd of "é\\', numbers: [1, null] },
      { numbers: [] },
    ])
    const key = { owner_id: of_project, provider: 'groq', last_four: '****', name: 'default', weight: null }
    await callFunction(database, 'store_provider_key', { ...key, sealed: Uint8Array.of(0, 92, 255) })
    const [stored] = await database.call<{ sealed: string }>(
      `select encode(sealed, 'hex') as sealed from provider_keys`,
      [],
    )
    expect(stored).toEqual({ sealed: '005cff' })
  })
})

import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import postgres from 'postgres'
import { afterAll, expect, inject, test } from 'vitest'
import { statements } from '../../src/postgres/statement.ts'
import { describeReal } from '../harness/backends.ts'

// Whatever defines a statement.
for (const file of new Bun.Glob('*.ts').scanSync(new URL('../../src/postgres', import.meta.url).pathname)) {
  await import(/* @vite-ignore */ `../../src/postgres/${file}`)
}

interface Described {
  name: string
  oid: number
}

/** Name and type of every column, as the database says, less those of the account, which have generated types. */
function check(described: readonly Described[], types: ReadonlyMap<number, string>, declared: Record<string, string>) {
  const said = new Map(described.map(({ name, oid }) => [name, types.get(oid)]))
  for (const [name, type] of Object.entries(declared)) expect(`${name} ${said.get(name)}`).toBe(`${name} ${type}`)
  return described.map(({ name }) => name).filter(name => !(name in declared))
}

const NAMES_OF_TYPES = `select oid::integer as oid, typname from pg_type`
const COLUMNS_OF_ACCOUNT = `select attname as name from pg_attribute
  where attrelid = 'model_proxy.key_accounts'::regclass and attnum > 0 and not attisdropped`

test('there are statements to check', () => {
  expect(statements.length).toBeGreaterThan(15)
})

test.each(statements.map(({ text, columns }) => [text.slice(0, 60), text, columns] as const))(
  'columns are as declared (embedded): %s',
  async (_, text, columns) => {
    const database = await embedded()
    const types = await database.query<{ oid: number; typname: string }>(NAMES_OF_TYPES)
    const { resultFields } = await database.describeQuery(text)
    const described = resultFields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID }))
    const more = check(described, new Map(types.rows.map(({ oid, typname }) => [oid, typname])), columns)
    const account = await database.query<{ name: string }>(COLUMNS_OF_ACCOUNT)
    expect(more.filter(name => !account.rows.some(column => column.name === name))).toEqual([])
  },
)

let opened: Promise<PGlite> | null = null
function embedded(): Promise<PGlite> {
  opened ??= Bun.file(inject('embeddedTemplate'))
    .bytes()
    .then(bytes => PGlite.create({ loadDataDir: new Blob([bytes]), extensions: { vector } }))
  return opened
}
afterAll(async () => {
  await (await opened)?.close()
})

describeReal('columns of statements', backend => {
  test('are as declared', async () => {
    const { databaseUrl } = await backend.open()
    // As behind a pooler that carries no search path along.
    const sql = postgres(databaseUrl ?? '', { max: 1, fetch_types: false, connection: { search_path: 'pg_catalog' } })
    const types = new Map((await sql.unsafe(NAMES_OF_TYPES)).map(({ oid, typname }) => [oid, typname]))
    for (const { text, columns } of statements) {
      const { columns: described } = await sql.unsafe(text).describe()
      check(
        described.map(({ name, type }) => ({ name, oid: type })),
        types,
        columns,
      )
    }
    await sql.end()
  })
})

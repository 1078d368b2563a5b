/** Writes src/postgres/types.generated.ts from the schema that sql/ makes, or with --check fails when the two differ. */
import { fileURLToPath } from 'node:url'
import { generate, getDialect } from 'kysely-codegen'
import { openEmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'

const outFile = fileURLToPath(new URL('../src/postgres/types.generated.ts', import.meta.url))
const database = await openEmbeddedDatabase({ directory: null, psql: null })
await migrate(database)
await generate({
  db: database.queries,
  dialect: getDialect('postgres'),
  outFile,
  // The types that both drivers return.
  typeMapping: { int8: 'number', date: 'string' },
  verify: process.argv.includes('--check'),
  // What typed queries read, and the account; a query of another relation does not compile until it is named here.
  includePattern: 'public.{projects,provider_keys,models,model_prices,key_accounts}',
})
await database.close()

/** Kysely on either backend, for statements of tests and of code generators. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Database } from '../../src/postgres/database.ts'
import { SCHEMA_NAME } from '../../src/postgres/schema-name.ts'
import type { DB } from '../../src/postgres/types.generated.ts'

export function queriesOf({ call }: Pick<Database, 'call'>): Kysely<DB> {
  return new Kysely<DB>({ dialect: createDialect(call) }).withSchema(SCHEMA_NAME)
}

function createDialect(call: Database['call']): Dialect {
  const connection: DatabaseConnection = {
    executeQuery: async <Row>({ sql, parameters }: CompiledQuery) => ({ rows: await call<Row>(sql, parameters) }),
    streamQuery: () => {
      throw new Error('Queries are not streamed here')
    },
  }
  const refuse = () => Promise.reject(new Error('Transactions are not supported here: use one SQL function'))
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
  return {
    createDriver: () => driver,
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: db => new PostgresIntrospector(db),
  }
}

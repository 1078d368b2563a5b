/** Writes the statement that reads a view. Loaded, with Kysely, when the first view is read. */
import {
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type SqlBool,
  sql,
} from 'kysely'

/** A hidden column is compared with the argument `name`. */
export interface ColumnComparison {
  column: string
  operator: '=' | 'any' | '>=' | '<' | 'is not distinct from'
  name: string
}

export interface ViewQuery {
  view: string
  columns: readonly string[]
  /** PostgreSQL's types of the hidden columns. A column `_place` is what they are ordered by; without it, `_id`. */
  hidden: Readonly<Record<string, string>>
  filter: readonly ColumnComparison[]
  isDescending: boolean
  /** Which of the arguments `after`, `before` and `size` there are. */
  cursors: readonly ('after' | 'before')[]
  isLimited: boolean
}

/** It writes statements, and sends none. Which view is read is not known here. */
// biome-ignore lint/suspicious/noExplicitAny: as that says
const queries = new Kysely<any>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: db => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** Values are found in $1, as JSON, by their names. */
export function buildViewQuery(asked: ViewQuery): string {
  const { view, columns, hidden, filter, isDescending, cursors, isLimited } = asked
  const argument = (name: string, type = '') => sql`${sql.raw(`($1 ->> '${name}')::${type}`)}`
  const conditions: Expression<SqlBool>[] = filter.map(({ column, operator, name }) =>
    operator === 'any'
      ? sql`${sql.ref(column)} = any (${argument(name, `${hidden[column]}[]`)})`
      : sql`${sql.ref(column)} ${sql.raw(operator)} ${argument(name, hidden[column])}`,
  )
  for (const cursor of cursors) {
    const isLater = (cursor === 'after') !== isDescending
    conditions.push(sql`_id ${sql.raw(isLater ? '>' : '<')} ${argument(cursor, 'bigint')}`)
  }
  // What ends before a given one is read backwards from it.
  const isBackward = cursors.includes('before')
  const query = queries
    .selectFrom(view)
    .select([...columns])
    .where(({ and }) => and(conditions))
    .orderBy('_place' in hidden ? '_place' : '_id', isDescending !== isBackward ? 'desc' : 'asc')
  return (isLimited ? query.limit(sql<number>`${argument('size', 'bigint')}`) : query).compile().sql
}

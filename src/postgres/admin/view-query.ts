/** Builds the statement that reads a view. The module loads Kysely, so it is imported when the first view is read. */
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

/** A comparison of a hidden column with the argument `name`. */
export interface ColumnComparison {
  column: string
  operator: '=' | 'any' | '>=' | '<' | 'is not distinct from'
  name: string
}

export interface ViewQuery {
  view: string
  columns: readonly string[]
  /** The SQL types of the hidden columns. Rows are ordered by the column `_place` if there is one, else by `_id`. */
  hidden: Readonly<Record<string, string>>
  filter: readonly ColumnComparison[]
  isDescending: boolean
  /** The cursors among the arguments. */
  cursors: readonly ('after' | 'before')[]
  isLimited: boolean
}

/** Compiles statements without sending them. The view is not known at compile time. */
// biome-ignore lint/suspicious/noExplicitAny: the view is not known at compile time
const queries = new Kysely<any>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: db => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** Builds the statement. It reads its arguments by name from $1, a JSON object. */
export function buildViewQuery(viewQuery: ViewQuery): string {
  const { view, columns, hidden, filter, isDescending, cursors, isLimited } = viewQuery
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
  // A page that ends before a cursor is read backwards from it.
  const isBackward = cursors.includes('before')
  const query = queries
    .selectFrom(view)
    .select([...columns])
    .where(({ and }) => and(conditions))
    .orderBy('_place' in hidden ? '_place' : '_id', isDescending !== isBackward ? 'desc' : 'asc')
  return (isLimited ? query.limit(sql<number>`${argument('size', 'bigint')}`) : query).compile().sql
}

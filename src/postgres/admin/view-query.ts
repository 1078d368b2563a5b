/** Writes the statement that reads a view. Loaded, with Kysely, when the first view is read. */
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { DB } from '../types.generated.ts'

export interface ViewQuery {
  view: string
  columns: readonly string[]
  /** PostgreSQL's types of the hidden columns. A column `_place` is what they are ordered by; without it, `_id`. */
  hidden: Readonly<Record<string, string>>
  /** Hidden columns that are compared, and how. */
  filter: readonly { column: string; by: 'value' | 'list' | 'below' | 'none' }[]
  isDescending: boolean
  /** Which of the arguments `after`, `before` and `size` there are. */
  cursors: readonly ('after' | 'before')[]
  isLimited: boolean
}

/** Values are found in $1, as JSON: filters by their columns. */
export function writeViewQuery(queries: Kysely<DB>, asked: ViewQuery): string {
  const { view, columns, hidden, filter, isDescending, cursors, isLimited } = asked
  // biome-ignore lint/suspicious/noExplicitAny: which view it is, is not known here
  const from = (queries.withoutPlugins() as Kysely<any>).selectFrom(view)
  const argument = (name: string, type = '') => sql`${sql.raw(`($1 ->> '${name}')::${type}`)}`
  const compare = {
    value: (column: string) => sql<SqlBool>`${sql.ref(column)} = ${argument(column, hidden[column])}`,
    list: (column: string) => sql<SqlBool>`${sql.ref(column)} = any (${argument(column, `${hidden[column]}[]`)})`,
    below: (column: string) => sql<SqlBool>`${sql.ref(column)} < ${argument(column, hidden[column])}`,
    none: (column: string) => sql<SqlBool>`${sql.ref(column)} is null`,
  }
  const conditions: Expression<SqlBool>[] = filter.map(({ column, by }) => compare[by](column))
  for (const cursor of cursors) {
    const isLater = (cursor === 'after') !== isDescending
    conditions.push(sql`_id ${sql.raw(isLater ? '>' : '<')} ${argument(cursor, 'bigint')}`)
  }
  // What ends before a given one is read backwards from it.
  const isBackward = cursors.includes('before')
  const query = from
    .select([...columns])
    .where(({ and }) => and(conditions))
    .orderBy('_place' in hidden ? '_place' : '_id', isDescending !== isBackward ? 'desc' : 'asc')
  return (isLimited ? query.limit(sql<number>`${argument('size', 'bigint')}`) : query).compile().sql
}

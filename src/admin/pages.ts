/** Lists, a page at a time, in the form that OpenAI's clients turn pages by. */
import { t } from 'elysia'
import { invalidRequest } from '../errors.ts'
import { formatId, type IdKind, parseId } from './ids.ts'
import { textOf } from './stated.ts'

export interface ListPage<Item> {
  object: 'list'
  data: Item[]
  first_id: string | null
  last_id: string | null
  has_more: boolean
}

/** How many a page holds. */
export const limitQuery = t.Optional(t.Integer({ minimum: 1, maximum: 100 }))

/** An id of the list that it leads on in. */
export function cursorOf(kind: IdKind) {
  return t.Optional(textOf({ pattern: `^(${kind}_[0-9]{1,15})?$` }))
}

/** Query parameters of a list by ids. */
export function pageQueryOf(kind: IdKind) {
  return { after: cursorOf(kind), limit: limitQuery }
}

/** Query parameters of a list by time. */
export const pageQuery = { after: t.Optional(t.String()), limit: limitQuery }

const DEFAULT_LIMIT = 20

/** One row more than the page holds tells whether there is another. */
export function pageSize(limit: number | undefined): number {
  return (limit ?? DEFAULT_LIMIT) + 1
}

export function toPage<Item extends { id: string }>(items: Item[], limit: number | undefined): ListPage<Item> {
  const data = items.slice(0, limit ?? DEFAULT_LIMIT)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: items.length > data.length,
  }
}

/** Throws a 400 where the cursor is none of this list's. */
export function readCursor(kind: IdKind, cursor: string | null | undefined, name = 'after'): number | undefined {
  if (cursor === undefined || cursor === null || cursor === '') return undefined
  const id = parseId(kind, cursor)
  if (id === null)
    throw invalidRequest(
      `The query parameter '${name}' must be an id from this list, such as ${formatId(kind, 1)}.`,
      name,
    )
  return id
}

/** Unix seconds. */
export function toSeconds(iso: string): number
export function toSeconds(iso: string | null): number | null
export function toSeconds(iso: string | null): number | null {
  return iso === null ? null : Math.floor(Date.parse(iso) / 1000)
}

/** ISO 8601. */
export function fromSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** A query parameter that may be given several times. */
export function several<Schema extends Parameters<typeof t.Array>[0]>(schema: Schema) {
  return t.Optional(t.Array(schema))
}

/** One of these words. Unlike Elysia's own, it takes none of them for granted. */
export function oneOf<Word extends string>(...words: Word[]) {
  return t.Union(words.map(word => t.Literal(word))) as unknown as ReturnType<typeof t.Unsafe<Word>>
}

/** Paginated lists, in the form that OpenAI's clients expect. */
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../errors/errors.ts'
import { constrainedText, unixSecondsParameter } from './field-types.ts'
import { formatId, type IdPrefix, parseId } from './ids.ts'

export interface ListPage<Item> {
  object: 'list'
  data: Item[]
  first_id: string | null
  last_id: string | null
  has_more: boolean
}

/** The number of items in a page. */
export const limitParameter = t.Optional(t.Integer({ minimum: 1, maximum: 100 }))

/** A query parameter for an id of a list. */
export function cursorParameter(kind: IdPrefix, description?: string) {
  return t.Optional(
    constrainedText(
      { pattern: `^(${kind}_[0-9]{1,15})?$`, form: `an id from this list, such as ${formatId(kind, 1)}` },
      description,
    ),
  )
}

/** Query parameters of a list ordered by id. */
export function idPageQuery(kind: IdPrefix) {
  return { after: cursorParameter(kind), limit: limitParameter }
}

/** Query parameters of a list ordered by time. */
export const timePageQuery = { after: t.Optional(t.String()), limit: limitParameter }

const DEFAULT_LIMIT = 20

/** Returns the number of rows to read: one more than the page holds, to detect further pages. */
export function rowLimit(limit: number | undefined): number {
  return (limit ?? DEFAULT_LIMIT) + 1
}

/** Creates a page. The additional row is the last one, or the first one if the page ends before a given item. */
export function toPage<Item extends { id: string }>(
  items: Item[],
  limit: number = DEFAULT_LIMIT,
  isBefore = false,
): ListPage<Item> {
  const data = isBefore ? items.slice(-limit) : items.slice(0, limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: items.length > data.length,
  }
}

/** Creates a page of a complete list: the items after an id, or before one. An id that is not in the list selects all items. */
export function slicePage<Item extends { id: string }>(
  items: readonly Item[],
  { after, before, limit = DEFAULT_LIMIT }: { after?: string; before?: string; limit?: number },
): ListPage<Item> {
  const end = before ? items.findIndex(({ id }) => id === before) : -1
  if (end < 0) return toPage(items.slice(items.findIndex(({ id }) => id === after) + 1), limit)
  return toPage(items.slice(Math.max(0, end - limit - 1), end), limit, true)
}

/** Parses a valid `cursorParameter`. An empty one counts as none. */
export function readCursor(kind: IdPrefix, cursor: string | null | undefined): number | undefined {
  return parseId(kind, cursor ?? '') ?? undefined
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

/** A cursor of a list ordered by time. The request id orders items with equal times. */
export interface TimeCursor {
  /** ISO 8601, to the microsecond. */
  at: string
  requestId: string
}

export function formatTimeCursor({ at, requestId }: TimeCursor): string {
  return Buffer.from(JSON.stringify([at, requestId])).toString('base64url')
}

/** Parses a cursor. Throws a 400 if the text is not a cursor of such a list. */
export function parseTimeCursor(text: string, param = 'after'): TimeCursor {
  try {
    const [at, requestId] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (typeof requestId === 'string' && ISO_TIME.test(at) && !Number.isNaN(Date.parse(at))) return { at, requestId }
  } catch {
    // The throw below covers invalid JSON too.
  }
  throw invalidRequestError(`The parameter '${param}' must be an id from this list.`, param)
}

/** Converts ISO 8601 to Unix seconds. */
export function toUnixSeconds(iso: string): number
export function toUnixSeconds(iso: string | null): number | null
export function toUnixSeconds(iso: string | null): number | null {
  return iso === null ? null : Math.floor(Date.parse(iso) / 1000)
}

/** Converts Unix seconds to ISO 8601. */
export function fromUnixSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** The query of a time range, in Unix seconds. */
export const timeRangeQuery = { start_time: unixSecondsParameter, end_time: unixSecondsParameter }

interface TimeRange {
  start_time: number
  end_time: number
}

/** Returns the range as arguments of an SQL function. An end before the start is the start. */
export function readTimeRange({ start_time, end_time }: TimeRange) {
  return { from_time: fromUnixSeconds(start_time), until_time: fromUnixSeconds(Math.max(start_time, end_time)) }
}

/** Returns the start of the range of equal length before. */
export function startOfPrevious({ start_time, end_time }: TimeRange): string {
  return fromUnixSeconds(Math.max(0, 2 * start_time - Math.max(start_time, end_time)))
}

/** A query parameter that may be repeated. */
export function repeatableParameter<Schema extends Parameters<typeof t.Array>[0]>(schema: Schema) {
  return t.Optional(t.Array(schema))
}

/** Creates a schema of one of several words. Unlike Elysia's enum, it does not default to the first. */
export function stringEnum<Word extends string>(...words: Word[]) {
  return t.Union(words.map(word => t.Literal(word))) as unknown as ReturnType<typeof t.Unsafe<Word>>
}

/** Parts of response schemas. The schemas appear at /openapi.json, and are the types of handlers and dashboard pages. */
import { type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'

export const textSchema = t.String()
export const unixSecondsSchema = t.Integer({ description: 'Unix seconds.' })
export const countSchema = t.Integer({ minimum: 0 })
export const usdSchema = t.Number({ description: 'US dollars.' })

export const hitRateSchema = nullable(
  t.Number({
    description: 'The share of hits among the requests that reached the cache, from 0 to 1. Null: none did.',
  }),
)

/** Returns the share of hits among the requests that reached the cache, from 0 to 1; null if none did. */
export function hitRateOf({ hits, misses }: { hits: number; misses: number }): number | null {
  return hits + misses === 0 ? null : hits / (hits + misses)
}

/** Creates the schema of an object. `name` is its name in the description. */
export function objectSchema<const Kind extends string, Fields extends TProperties>(
  name: string,
  kind: Kind,
  fields: Fields,
  description?: string,
) {
  return t.Object({ object: t.Literal(kind), ...fields }, { $id: name, ...(description && { description }) })
}

/** Creates the schema of a complete list. */
export function listSchema<Item extends TSchema>(item: Item) {
  return t.Object({ object: t.Literal('list'), data: t.Array(item), has_more: t.Boolean() })
}

/** Creates the schema of a page, with the cursors of the pages before and after it. */
export function pageSchema<Item extends TObject>(item: Item) {
  return t.Object({
    object: t.Literal('list'),
    data: t.Array(item),
    first_id: nullable(textSchema),
    last_id: nullable(textSchema),
    has_more: t.Boolean(),
  })
}

/** Creates the schema of the response to a deletion. */
export function deletedSchema<const Kind extends string, Fields extends TProperties>(kind: Kind, fields: Fields) {
  return t.Object({ object: t.Literal(`${kind}.deleted` as const), ...fields, deleted: t.Boolean() })
}

/** The schema of OpenAI's error envelope. */
export const errorSchema = t.Object(
  { error: t.Object({ message: textSchema, type: textSchema, param: nullable(textSchema), code: textSchema }) },
  { $id: 'Error' },
)

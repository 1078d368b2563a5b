/** What the admin API's answers are made of. Their schemas describe them at /openapi.json, and are the types of handlers and pages. */
import { type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'

export const textSchema = t.String()
export const unixSecondsSchema = t.Integer({ description: 'Unix seconds.' })
export const countSchema = t.Integer({ minimum: 0 })
export const usdSchema = t.Number({ description: 'US dollars.' })

/** An object of the API; `name` is its schema's name in the description. */
export function objectSchema<const Kind extends string, Fields extends TProperties>(
  name: string,
  kind: Kind,
  fields: Fields,
  description?: string,
) {
  return t.Object({ object: t.Literal(kind), ...fields }, { $id: name, ...(description && { description }) })
}

/** All of a kind. */
export function listSchema<Item extends TSchema>(item: Item) {
  return t.Object({ object: t.Literal('list'), data: t.Array(item), has_more: t.Boolean() })
}

/** Some of a kind, with the cursors of the pages before and after. */
export function pageSchema<Item extends TObject>(item: Item) {
  return t.Object({
    object: t.Literal('list'),
    data: t.Array(item),
    first_id: nullable(textSchema),
    last_id: nullable(textSchema),
    has_more: t.Boolean(),
  })
}

/** What was deleted. */
export function deletedSchema<const Kind extends string, Fields extends TProperties>(kind: Kind, fields: Fields) {
  return t.Object({ object: t.Literal(`${kind}.deleted` as const), ...fields, deleted: t.Boolean() })
}

/** OpenAI's error envelope. */
export const errorSchema = t.Object(
  { error: t.Object({ message: textSchema, type: textSchema, param: nullable(textSchema), code: textSchema }) },
  { $id: 'Error' },
)

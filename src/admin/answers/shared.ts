/** What the admin API's answers are made of. Their schemas describe them at /openapi.json, and are the types of handlers and pages. */
import { type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { orNull } from '../../postgres/admin/schemas.ts'

export const text = t.String()
export const seconds = t.Integer({ description: 'Unix seconds.' })
export const count = t.Integer({ minimum: 0 })
export const usd = t.Number({ description: 'US dollars.' })

/** An object of the API; `name` is its schema's name in the description. */
export function objectOf<const Kind extends string, Fields extends TProperties>(
  name: string,
  kind: Kind,
  fields: Fields,
  description?: string,
) {
  return t.Object({ object: t.Literal(kind), ...fields }, { $id: name, ...(description && { description }) })
}

/** All of a kind. */
export function listOf<Item extends TSchema>(item: Item) {
  return t.Object({ object: t.Literal('list'), data: t.Array(item), has_more: t.Boolean() })
}

/** Some of a kind, with the cursors of the pages before and after. */
export function pagesOf<Item extends TObject>(item: Item) {
  return t.Object({
    object: t.Literal('list'),
    data: t.Array(item),
    first_id: orNull(text),
    last_id: orNull(text),
    has_more: t.Boolean(),
  })
}

/** What was deleted. */
export function deleted<const Kind extends string, Fields extends TProperties>(kind: Kind, fields: Fields) {
  return t.Object({ object: t.Literal(`${kind}.deleted` as const), ...fields, deleted: t.Boolean() })
}

/** OpenAI's error envelope. */
export const failure = t.Object(
  { error: t.Object({ message: text, type: text, param: orNull(text), code: text }) },
  { $id: 'Error' },
)

/** Response schemas of the data of an end user. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { countSchema, hitRateSchema, objectSchema, textSchema, unixSecondsSchema } from './shared.ts'

export const endUserDataSchema = objectSchema(
  'EndUserData',
  'end_user.data',
  SQL_TYPE_SCHEMAS.end_user_data,
  'The amount of stored data of one kind of an end user.',
)
export type EndUserData = Static<typeof endUserDataSchema>

export const endUserErasureSchema = objectSchema('EndUserForgetting', 'end_user.forgetting', {
  data: t.Array(endUserDataSchema, { description: 'The data that existed.' }),
  dry_run: t.Boolean(),
  has_more: t.Boolean({ description: 'True if one call could not delete all data; repeat the call.' }),
})
export type EndUserErasure = Static<typeof endUserErasureSchema>

export const endUserUsageSchema = t.Object(
  {
    id: t.String({ description: 'The end user, as in requests.' }),
    object: t.Literal('end_user'),
    ...t.Omit(t.Object(SQL_TYPE_SCHEMAS.usage_share), ['name']).properties,
    hit_rate: hitRateSchema,
  },
  { $id: 'EndUser', description: 'An end user with the usage of a time range.' },
)
export type EndUserUsage = Static<typeof endUserUsageSchema>

export const endUserItemSchema = objectSchema(
  'EndUserItem',
  'end_user.item',
  {
    id: textSchema,
    kind: t.String({ description: 'The id of EndUserData.' }),
    name: t.String({ description: 'The id of the request, entry, response or object.' }),
    created_at: unixSecondsSchema,
    api_key_id: nullable(textSchema),
    bytes: countSchema,
    question: nullable(textSchema),
    answer: nullable(textSchema),
    record: nullable(t.Unknown({ description: 'The record of a request, or a sum.' })),
  },
  'A stored item of an end user. A text is null if items of the kind have none, or if its encryption key is missing.',
)

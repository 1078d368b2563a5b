/** What is kept of an end user. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { countSchema, objectSchema, textSchema, unixSecondsSchema } from './shared.ts'

export const endUserDataSchema = objectSchema(
  'EndUserData',
  'end_user.data',
  SQL_TYPE_SCHEMAS.end_user_data,
  'How much of one kind is kept of an end user.',
)
export type EndUserData = Static<typeof endUserDataSchema>

export const endUserErasureSchema = objectSchema('EndUserForgetting', 'end_user.forgetting', {
  data: t.Array(endUserDataSchema, { description: 'What there was.' }),
  dry_run: t.Boolean(),
  has_more: t.Boolean({ description: 'Whether there was more than one call forgets: ask again.' }),
})
export type EndUserErasure = Static<typeof endUserErasureSchema>

export const endUserItemSchema = objectSchema(
  'EndUserItem',
  'end_user.item',
  {
    id: textSchema,
    kind: t.String({ description: 'As EndUserData has it.' }),
    name: t.String({ description: 'The request’s, entry’s, response’s or object’s own id.' }),
    created_at: unixSecondsSchema,
    api_key_id: nullable(textSchema),
    bytes: countSchema,
    question: nullable(textSchema),
    answer: nullable(textSchema),
    record: nullable(t.Unknown({ description: 'A request’s record, or a sum.' })),
  },
  'One thing that is kept of an end user. Null: there is none of this kind, or no key opens it any more.',
)

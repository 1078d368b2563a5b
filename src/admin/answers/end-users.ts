/** What is kept of an end user. */
import { type Static, Type as t } from '@sinclair/typebox'
import { orNull } from '../../postgres/admin/schemas.ts'
import { TYPES } from '../../postgres/admin/views.generated.ts'
import { count, objectOf, seconds, text } from './shared.ts'

export const endUserData = objectOf(
  'EndUserData',
  'end_user.data',
  TYPES.end_user_data,
  'How much of one kind is kept of an end user.',
)
export type EndUserData = Static<typeof endUserData>

export const endUserForgetting = objectOf('EndUserForgetting', 'end_user.forgetting', {
  data: t.Array(endUserData, { description: 'What there was.' }),
  dry_run: t.Boolean(),
  has_more: t.Boolean({ description: 'Whether there was more than one call forgets: ask again.' }),
})
export type EndUserForgetting = Static<typeof endUserForgetting>

export const endUserItem = objectOf(
  'EndUserItem',
  'end_user.item',
  {
    id: text,
    kind: t.String({ description: 'As EndUserData has it.' }),
    name: t.String({ description: 'The request’s, entry’s, response’s or object’s own id.' }),
    created_at: seconds,
    api_key_id: orNull(text),
    bytes: count,
    question: orNull(text),
    answer: orNull(text),
    record: orNull(t.Unknown({ description: 'A request’s record, or a sum.' })),
  },
  'One thing that is kept of an end user. Null: there is none of this kind, or no key opens it any more.',
)

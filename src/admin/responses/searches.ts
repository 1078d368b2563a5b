/** Response schemas of searches: for names, and for leaked keys. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { objectSchema, textSchema } from './shared.ts'

export const nameSchema = objectSchema('Name', 'organization.name', {
  value: t.String({ description: 'The value that other operations accept: an id, or the name itself.' }),
  name: textSchema,
  detail: nullable(t.String({ description: 'What distinguishes it from others of the same name. Null: nothing.' })),
})
export type Name = Static<typeof nameSchema>

export const leakedKeySchema = objectSchema('LeakedKey', 'organization.leaked_key', SQL_TYPE_SCHEMAS.leaked_key)
export type LeakedKey = Static<typeof leakedKeySchema>

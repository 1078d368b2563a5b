/** Response schemas of searches for leaked keys. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable, stringUnion } from '../../postgres/admin/schemas.ts'
import { objectSchema, textSchema, unixSecondsSchema } from './shared.ts'

export const leakedKeySchema = objectSchema('LeakedKey', 'organization.leaked_key', {
  id: textSchema,
  kind: stringUnion('api_key', 'admin_api_key'),
  project_id: nullable(t.String({ description: 'Null: an admin key for all projects.' })),
  project_name: nullable(textSchema),
  name: textSchema,
  redacted_value: textSchema,
  state: stringUnion('active', 'expired', 'deactivated'),
  is_whole_key: t.Boolean({ description: 'False if only the displayed beginning is that of the text.' }),
  created_at: unixSecondsSchema,
  last_used_at: nullable(unixSecondsSchema),
  expires_at: nullable(unixSecondsSchema),
})
export type LeakedKey = Static<typeof leakedKeySchema>

/** Response schemas of searches for leaked keys. */
import type { Static } from '@sinclair/typebox'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { objectSchema } from './shared.ts'

export const leakedKeySchema = objectSchema('LeakedKey', 'organization.leaked_key', SQL_TYPE_SCHEMAS.leaked_key)
export type LeakedKey = Static<typeof leakedKeySchema>

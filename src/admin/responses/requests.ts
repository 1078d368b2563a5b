/** Response schemas of requests. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { USAGE_RECORD_COLUMNS } from '../../postgres/usage-record.generated.ts'
import { objectSchema, textSchema, unixSecondsSchema } from './shared.ts'

const { project_id: _, key_id: __, ...recorded } = USAGE_RECORD_COLUMNS
export const requestSchema = objectSchema(
  'Request',
  'request',
  {
    id: t.String({ description: 'The cursor of the list.' }),
    created_at: unixSecondsSchema,
    ...recorded,
    api_key_id: textSchema,
    key_name: nullable(textSchema),
    api_key_redacted_value: nullable(textSchema),
  },
  'An answered, rejected or failed request.',
)
export type RequestLogEntry = Static<typeof requestSchema>

export const requestFilterSchema = t.Object(SQL_TYPE_SCHEMAS.request_filter_value, { $id: 'RequestFilter' })
export type RequestFilterValue = Static<typeof requestFilterSchema>

export const requestContentSchema = objectSchema('RequestContent', 'request.content', {
  request: nullable(textSchema),
  response: nullable(textSchema),
})

export const rejectionCountSchema = t.Object({ ...SQL_TYPE_SCHEMAS.rejection_count }, { $id: 'Refusal' })
export type RejectionCount = Static<typeof rejectionCountSchema>

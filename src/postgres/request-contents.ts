/** Keeps what requests said and got. */
import { defineBatch } from './statement.ts'
import type { UsageRecord } from './usage-record.ts'

export interface SealedContent extends Pick<UsageRecord, 'recorded_at' | 'project_id' | 'key_id' | 'request_id'> {
  /** In hex, as the response. */
  sealedRequest: string | null
  sealedResponse: string | null
}

export const recordContents = defineBatch<SealedContent>('record_contents', {
  recorded_at: 'timestamptz',
  project_id: 'bigint',
  key_id: 'bigint',
  request_id: 'text',
  sealedRequest: 'text',
  sealedResponse: 'text',
})

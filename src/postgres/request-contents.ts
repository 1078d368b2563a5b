/** Keeps what requests said and got. */
import type { Database } from './database.ts'
import { defineStatement, nothing, runStatement } from './statement.ts'
import type { UsageRecord } from './usage-record.ts'

export interface SealedContent extends Pick<UsageRecord, 'recorded_at' | 'project_id' | 'key_id' | 'request_id'> {
  sealedRequest: Uint8Array | null
  sealedResponse: Uint8Array | null
}

const RECORD = defineStatement(
  'select record_contents($1::timestamptz[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[]) as done',
  { done: nothing },
)

export async function recordContents(database: Database, contents: readonly SealedContent[]): Promise<void> {
  const hex = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString('hex')
  await runStatement(database, RECORD, [
    contents.map(each => each.recorded_at),
    contents.map(each => each.project_id),
    contents.map(each => each.key_id),
    contents.map(each => each.request_id),
    contents.map(each => hex(each.sealedRequest)),
    contents.map(each => hex(each.sealedResponse)),
  ])
}

/** Records encrypted requests and responses for projects and keys that log content: in the background, and within a memory budget. */
import type { Database } from '../postgres/database.ts'
import { recordRequestContents, type SealedContent } from '../postgres/record-usage.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { formatBytea } from '../postgres/wire-format.ts'
import { createBackgroundWriter } from './background-writer.ts'
import type { Log } from './log.ts'

/** When more characters wait to be written, contents are dropped, so that a slow database does not fill the memory. */
const MAX_WAITING_CHARS = 32 * 1_048_576

export interface RequestContent {
  request: string | null
  response: string | null
}

/** Encrypts a project's text. Returns hex. */
export type TextSealer = (text: string, projectId: number) => Promise<string>

export interface ContentRecorder {
  /** Queues the content for writing. Content that cannot be encrypted or written is lost. */
  record(usage: UsageRecord, content: RequestContent): void
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createContentRecorder(
  database: Database,
  seal: TextSealer,
  log: Pick<Log, 'failures'>,
): ContentRecorder {
  let waitingChars = 0
  const { add, drain } = createBackgroundWriter<SealedContent>({
    failure: 'request_detail',
    rowName: 'the content of a request',
    write: contents => recordRequestContents(database, contents),
    maxRows: 100,
    timeLimitMs: 10_000,
    log,
  })

  async function sealContent(usage: UsageRecord, { request, response }: RequestContent): Promise<SealedContent> {
    const { recorded_at, project_id, key_id, request_id, end_user = null } = usage
    const sealText = async (text: string | null) => (text ? formatBytea(await seal(text, project_id)) : null)
    const [sealed_request, sealed_response] = await Promise.all([sealText(request), sealText(response)])
    return { recorded_at, project_id, key_id, request_id, end_user, sealed_request, sealed_response }
  }

  return {
    record(usage, content) {
      const chars = (content.request?.length ?? 0) + (content.response?.length ?? 0)
      if (waitingChars + chars > MAX_WAITING_CHARS) {
        const cause = new Error('too much request content waits to be written')
        return log.failures.report('request_detail', cause, 'the content of a request was dropped', {
          fields: { id: usage.request_id },
        })
      }
      waitingChars += chars
      void add(sealContent(usage, content), { id: usage.request_id }).then(() => {
        waitingChars -= chars
      })
    },
    drain,
  }
}

/** Keeps what requests said and got, sealed, for projects and keys that want it: off the hot path, and within bounds of memory. */
import type { Database } from '../postgres/database.ts'
import { recordRequestContents, type SealedContent } from '../postgres/record-usage.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { formatBytea } from '../postgres/wire-format.ts'
import { createBackgroundWriter } from './background-writer.ts'
import type { Log } from './log.ts'

/** Beyond that, contents are dropped: a slow database must not fill the memory. */
const MOST_WAITING_CHARS = 32 * 1_048_576

export interface RequestContent {
  request: string | null
  response: string | null
}

/** Encrypts a project's text. Returns hex. */
export type TextSealer = (text: string, projectId: number) => Promise<string>

export interface ContentRecorder {
  /** What cannot be sealed or written is lost. */
  record(of: UsageRecord, content: RequestContent): void
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

  async function sealContent(of: UsageRecord, { request, response }: RequestContent): Promise<SealedContent> {
    const { recorded_at, project_id, key_id, request_id, end_user = null } = of
    const sealText = async (text: string | null) => (text ? formatBytea(await seal(text, project_id)) : null)
    const [sealed_request, sealed_response] = await Promise.all([sealText(request), sealText(response)])
    return { recorded_at, project_id, key_id, request_id, end_user, sealed_request, sealed_response }
  }

  return {
    record(of, content) {
      const chars = (content.request?.length ?? 0) + (content.response?.length ?? 0)
      if (waitingChars + chars > MOST_WAITING_CHARS) {
        const full = new Error('Too much waits to be written')
        return log.failures.report('request_detail', full, 'the content of a request was dropped', {
          fields: { id: of.request_id },
        })
      }
      waitingChars += chars
      void add(sealContent(of, content), { id: of.request_id }).then(() => {
        waitingChars -= chars
      })
    },
    drain,
  }
}

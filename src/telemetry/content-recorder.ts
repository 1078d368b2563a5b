/** Keeps what requests said and got, sealed, for projects and keys that want it: off the hot path, and within bounds of memory. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { recordContents, type SealedContent } from '../postgres/request-contents.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { describeCause } from './describe-cause.ts'
import type { Log } from './log.ts'

const MAX_BATCH = 100
const TIME_LIMIT_MS = 10_000
/** Beyond that, contents are dropped: a slow database must not fill the memory. */
const MOST_WAITING_CHARS = 32 * 1_048_576

export interface RequestContent {
  request: string | null
  response: string | null
}

/** Encrypts a project's text. */
type Seal = (text: string, projectId: number) => Promise<Uint8Array>

export interface ContentRecorder {
  /** What cannot be sealed or written is lost. */
  record(of: UsageRecord, content: RequestContent): void
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createContentRecorder(database: Database, seal: Seal, log: Pick<Log, 'warn'>): ContentRecorder {
  const underWay = new BackgroundWork()
  let waitingChars = 0
  const write = createBatcher<SealedContent, undefined>({
    async run(contents) {
      await recordContents(database, contents)
      return contents.map(() => undefined)
    },
    maxItems: MAX_BATCH,
    timeLimitMs: TIME_LIMIT_MS,
    timeLimitError: () => new Error('The content of a request was not written in time'),
  })

  async function sealAndWrite(of: UsageRecord, { request, response }: RequestContent): Promise<void> {
    const sealText = async (text: string | null) => text && (await seal(text, of.project_id))
    const [sealedRequest, sealedResponse] = await Promise.all([sealText(request), sealText(response)])
    await write({ ...of, sealedRequest: sealedRequest || null, sealedResponse: sealedResponse || null })
  }

  return {
    record(of, content) {
      const chars = (content.request?.length ?? 0) + (content.response?.length ?? 0)
      if (waitingChars + chars > MOST_WAITING_CHARS) return
      waitingChars += chars
      const writing = sealAndWrite(of, content)
        .catch(error => log.warn({ id: of.request_id, cause: describeCause(error) }, 'a content could not be kept'))
        .finally(() => {
          waitingChars -= chars
        })
      void underWay.add(writing)
    },
    async drain(timeLimitMs) {
      await withinTimeLimit(timeLimitMs, underWay.settled()).catch(() => {})
    },
  }
}

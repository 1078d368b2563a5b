/** Opens a recorder for each admitted request, and records requests that were not admitted. */
import { ClientDisconnected } from '../../errors/errors.ts'
import { createMinuteLimiter } from '../../event-loop/minute-limiter.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { RecordedQuery } from '../request/query.ts'
import {
  createRecordDraft,
  createUsageRecord,
  describeUnparsedRequest,
  isRejectedStatus,
  type RequestMetadata,
  statusOfFailure,
} from './create-record.ts'
import { describeClientError } from './describe-failure.ts'
import { type RecorderOptions, RequestRecorder } from './request-recorder.ts'

export type AccountingOptions = Omit<RecorderOptions, 'canRecordRejection' | 'shutdown' | 'activeRequests'>

export interface Accounting {
  /** `onFinish` is called once, when the request has finished. Pass null for a free request: nothing about it is recorded. */
  open(request: RequestMetadata, resolvedKey: ResolvedKey, onFinish: (() => void) | null): RequestRecorder
  /** Records a request of a known key that was not admitted. `query` is null if it was not parsed. */
  recordRejection(request: RequestMetadata, resolvedKey: ResolvedKey, query: RecordedQuery | null, error: unknown): void
  /** Marks the process as stopping. A request whose client it disconnects from then on does not count. */
  beginShutdown(): void
  /** Resolves when every request whose provider was called has finished. */
  waitUntilFinished(): Promise<void>
  /** Finishes the requests that are still active, as if their clients had disconnected. */
  finishDisconnected(): void
}

/** Rejected requests that a process records per key and minute. A rejected client pays nothing, and may retry without end. */
export const MAX_RECORDED_REJECTIONS_PER_MINUTE = 30

const CHECK_INTERVAL_MS = 50

export function createAccounting(options: AccountingOptions): Accounting {
  const activeRequests = new Set<RequestRecorder>()
  const canRecordRejection = createMinuteLimiter(MAX_RECORDED_REJECTIONS_PER_MINUTE)
  const shutdown = { isCut: false }
  const recorderOptions = { ...options, canRecordRejection, shutdown, activeRequests }
  return {
    open: (request, resolvedKey, onFinish) => new RequestRecorder(recorderOptions, request, resolvedKey, onFinish),
    recordRejection(request, resolvedKey, parsed, error) {
      const status = statusOfFailure(error)
      const query = parsed ?? describeUnparsedRequest(request)
      if (!query || !isRejectedStatus(status) || !canRecordRejection(`${resolvedKey.key_id}`)) return
      request.isRecorded = true
      const draft = createRecordDraft(request, resolvedKey)
      Object.assign(draft.details, describeClientError(error))
      const result = { status, isCounted: false, cacheResult: null, usage: NO_USAGE }
      const record = createUsageRecord(draft, query, result, { catalogue: options.catalogue, reservation: null })
      options.recorder.record(record)
      options.metrics.recordRequest(record, null)
      request.trace?.end(status, { record, project: resolvedKey.project_name, responseModel: undefined }, error)
    },
    beginShutdown() {
      shutdown.isCut = true
    },
    async waitUntilFinished() {
      while (activeRequests.size > 0) await Bun.sleep(CHECK_INTERVAL_MS)
    },
    finishDisconnected() {
      shutdown.isCut = true
      for (const recorder of [...activeRequests]) recorder.finishFailed(new ClientDisconnected())
    },
  }
}

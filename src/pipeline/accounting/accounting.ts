/** Opens a recorder for each admitted request, and records requests that were not admitted. */
import type { Catalogue } from '../../catalogue/catalogue.ts'
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

export type AccountingOptions = Omit<RecorderOptions, 'canRecordRejection' | 'shutdown' | 'activeRequests'> & {
  catalogue: Catalogue
}

export interface Accounting {
  /** `onFinish` is called once, when the request has finished. Null for a request that is free: nothing about it is recorded. */
  open(request: RequestMetadata, resolvedKey: ResolvedKey, onFinish: (() => void) | null): RequestRecorder
  /** Records a request of a known key that was not admitted. `query` is null if it was not parsed. */
  recordRejection(request: RequestMetadata, resolvedKey: ResolvedKey, query: RecordedQuery | null, error: unknown): void
  /** This process is stopping and disconnects its clients. A request that is disconnected so does not count. */
  beginShutdown(): void
  /** Resolves when every request whose provider was called has finished. */
  waitUntilFinished(): Promise<void>
  /** Finishes what is still open, as if its client had left. */
  finishDisconnected(): void
}

/** Rejected requests that are recorded, per key and minute in each process: a rejected client pays nothing, and may try for ever. */
export const MAX_RECORDED_REJECTIONS_PER_MINUTE = 30

const CHECK_INTERVAL_MS = 50

export function createAccounting(given: AccountingOptions): Accounting {
  const called = new Set<RequestRecorder>()
  const takeRejected = createMinuteLimiter(MAX_RECORDED_REJECTIONS_PER_MINUTE)
  const options = { ...given, canRecordRejection: takeRejected, shutdown: { isCut: false }, activeRequests: called }
  return {
    open: (request, account, onFinish) => new RequestRecorder(options, request, account, onFinish),
    recordRejection(request, account, parsed, error) {
      const status = statusOfFailure(error)
      const query = parsed ?? describeUnparsedRequest(request)
      if (!query || !isRejectedStatus(status) || !takeRejected(`${account.key_id}`)) return
      request.isRecorded = true
      const draft = createRecordDraft(request, account)
      Object.assign(draft.details, describeClientError(error))
      const result = { status, isCounted: false, cacheResult: null, usage: NO_USAGE }
      const record = createUsageRecord(draft, query, result, { catalogue: given.catalogue, reservation: null })
      given.recorder.record(record)
      given.metrics.recordRequest(record, null)
      request.trace?.end(status, { record, project: account.project_name, responseModel: undefined }, error)
    },
    beginShutdown() {
      options.shutdown.isCut = true
    },
    async waitUntilFinished() {
      while (called.size > 0) await Bun.sleep(CHECK_INTERVAL_MS)
    },
    finishDisconnected() {
      options.shutdown.isCut = true
      for (const open of [...called]) open.finishFailed(new ClientDisconnected())
    },
  }
}

/** Opens a recorder for each admitted request, and records requests that were not admitted. */
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { ClientGone } from '../../errors/errors.ts'
import { createMinuteBudget } from '../../event-loop/minute-budget.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'
import type { RecordedQuery } from '../query.ts'
import {
  type AccountedRequest,
  createRecord,
  isRejection,
  recordedTarget,
  startDraft,
  statusOf,
} from './create-record.ts'
import { describeClientError } from './describe-failure.ts'
import { type RecorderOptions, RequestRecorder } from './request-recorder.ts'

export type AccountingOptions = Omit<RecorderOptions, 'takeRejected' | 'shutdown' | 'called'> & { catalogue: Catalogue }

export interface Accounting {
  /** `onFinish` is called once, when the request has finished. Null for a request that is free: nothing about it is recorded. */
  open(request: AccountedRequest, account: Account, onFinish: (() => void) | null): RequestRecorder
  /** Records a request of a known key that was not admitted. `query` is null if it was not parsed. */
  recordRejection(request: AccountedRequest, account: Account, query: RecordedQuery | null, error: unknown): void
  /** This process is stopping and disconnects its clients. A request that is disconnected so does not count. */
  beginCutOff(): void
  /** Resolves when every request whose provider was called has finished. */
  allFinished(): Promise<void>
  /** Finishes what is still open, as if its client had left. */
  finishOpen(): void
}

/** Rejected requests that are recorded, per key and minute in each process: a rejected client pays nothing, and may try for ever. */
export const MAX_REJECTED_PER_MINUTE = 30

const CHECK_INTERVAL_MS = 50

export function createAccounting(given: AccountingOptions): Accounting {
  const called = new Set<RequestRecorder>()
  const takeRejected = createMinuteBudget(MAX_REJECTED_PER_MINUTE)
  const options = { ...given, takeRejected, shutdown: { isCut: false }, called }
  return {
    open: (request, account, onFinish) => new RequestRecorder(options, request, account, onFinish),
    recordRejection(request, account, parsed, error) {
      const status = statusOf(error)
      const query = parsed ?? recordedTarget(request)
      if (!query || !isRejection(status) || !takeRejected(`${account.key_id}`)) return
      request.isRecorded = true
      const draft = startDraft(request, account)
      Object.assign(draft.details, describeClientError(error))
      const result = { status, counts: false, cacheResult: null, usage: NO_USAGE }
      const record = createRecord(draft, query, result, { catalogue: given.catalogue, reservation: null })
      given.recorder.record(record)
      given.metrics.noteRequest(record, null)
      request.trace?.end(status, { record, project: account.project_name, answeredAs: undefined }, error)
    },
    beginCutOff() {
      options.shutdown.isCut = true
    },
    async allFinished() {
      while (called.size > 0) await Bun.sleep(CHECK_INTERVAL_MS)
    },
    finishOpen() {
      options.shutdown.isCut = true
      for (const open of [...called]) open.finishFailed(new ClientGone())
    },
  }
}

/** Accounts for each request once, when it ends: a usage record, a log line and, if the request does not count, a refund. */
import { ClientGone } from '../errors/errors.ts'
import { createMinuteBudget } from '../event-loop/minute-budget.ts'
import { type AccountingOptions, OpenAccount } from './open-account.ts'
import type { Accounting } from './request-accounting.ts'
import { createRefusal, MOST_REFUSED } from './request-record.ts'

export type { AccountingOptions }

/** Looks so often whether all is over. */
const LOOK_EVERY_MS = 50

export function createAccounting(given: AccountingOptions): Accounting {
  const asked = new Set<OpenAccount>()
  const options = { ...given, takeRefused: createMinuteBudget(MOST_REFUSED), shutdown: { isCut: false }, asked }
  return {
    noteRefused(request, account, query, error) {
      const record = createRefusal(request, account, query, error)
      if (!record || !options.takeRefused(`${account.key_id}`)) return
      request.isRecorded = true
      given.recorder.record(record)
      given.metrics.noteRequest(record, null)
      request.trace?.end(record.status, { record, project: account.project_name, answeredAs: undefined }, error)
    },
    noteCut() {
      options.shutdown.isCut = true
    },
    async answersRead() {
      while (asked.size > 0) await Bun.sleep(LOOK_EVERY_MS)
    },
    endOpen() {
      options.shutdown.isCut = true
      for (const open of [...asked]) open.finishFailed(new ClientGone())
    },
    open: (request, account, onFinish) => new OpenAccount(options, request, account, onFinish),
  }
}

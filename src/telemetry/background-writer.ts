/** Writes rows in batches, in the background: what cannot be written is lost, and the log tells so. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import type { FailureCategory } from './failure-reporter.ts'
import type { Log } from './log.ts'

export interface BackgroundWriter<Row> {
  /** Resolves when the row is written, or lost. `about` names it in the log. */
  add(row: Promise<Row>, about?: object): Promise<void>
  /** Resolves when nothing is left to write. */
  settled(): Promise<void>
  /** Resolves then, or when the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export interface BackgroundWriterOptions<Row> {
  /** As what a failure is reported. */
  failure: FailureCategory
  /** A row's name in messages. */
  rowName: string
  write(rows: readonly Row[]): Promise<void>
  /** Most rows of a call. */
  maxRows: number
  /** Upper bound on a call. */
  timeLimitMs: number
  log: Pick<Log, 'failures'>
}

export function createBackgroundWriter<Row>(options: BackgroundWriterOptions<Row>): BackgroundWriter<Row> {
  const {
    failure,
    rowName,
    write,
    maxRows,
    timeLimitMs,
    log: { failures },
  } = options
  const underWay = new BackgroundWork()
  const add = createBatcher<Row, undefined>({
    async run(rows) {
      await write(rows)
      failures.recover(failure, rowName)
      return rows.map(() => undefined)
    },
    maxItems: maxRows,
    timeoutMs: timeLimitMs,
    createTimeoutError: () => new Error(`${rowName} was not written in time`),
  })
  return {
    add: (row, about) =>
      underWay.add(
        row
          .then(add)
          .catch(error =>
            failures.report(failure, error, `${rowName} could not be written`, { part: rowName, fields: { ...about } }),
          ),
      ),
    settled: () => underWay.settled(),
    async drain(limitMs) {
      await withTimeout(limitMs, underWay.settled()).catch(() => {})
    },
  }
}

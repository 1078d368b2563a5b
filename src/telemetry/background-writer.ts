/** Writes rows in batches in the background. A row that cannot be written is lost, and the loss is logged. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import type { FailureCategory } from './failure-reporter.ts'
import type { Log } from './log.ts'

export interface BackgroundWriter<Row> {
  /** Resolves when the row is written or lost. `fields` are the log fields that identify the row. */
  add(row: Promise<Row>, fields?: object): Promise<void>
  /** Resolves when nothing is left to write. */
  settled(): Promise<void>
  /** Resolves when nothing is left to write, or when the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export interface BackgroundWriterOptions<Row> {
  /** The category under which failures are reported. */
  failure: FailureCategory
  /** The name of a row in messages. */
  rowName: string
  write(rows: readonly Row[]): Promise<void>
  /** The largest number of rows per call. */
  maxRows: number
  /** The time limit of a call. */
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
  const pending = new BackgroundWork()
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
    add: (row, fields) =>
      pending.add(
        row.then(add).catch(error =>
          failures.report(failure, error, `${rowName} could not be written`, {
            part: rowName,
            fields: { ...fields },
          }),
        ),
      ),
    settled: () => pending.settled(),
    drain: limitMs => pending.drain(limitMs),
  }
}

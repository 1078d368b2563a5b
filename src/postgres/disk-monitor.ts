/** Detects that the database's disk is full: statements that need space fail then, and all others succeed. */
import { type Database, type DiskState, sqlStateOf } from './database.ts'

/** SQLSTATE: disk_full. */
const DISK_FULL = '53100'
/** A failure is dropped after this time, because its statement may never run again. */
const FORGET_AFTER_MS = 300_000

export class DiskMonitor implements DiskState {
  /** The statements that failed because the disk is full, with the time of their last failure. */
  readonly #failedAtMs = new Map<string, number>()
  onChange: (isFull: boolean) => void = () => {}

  /** True until each statement that failed has succeeded. */
  get isFull(): boolean {
    const oldestMs = performance.now() - FORGET_AFTER_MS
    for (const [text, atMs] of this.#failedAtMs) if (atMs < oldestMs) this.#forget(text)
    return this.#failedAtMs.size > 0
  }

  /** Returns a call function that records failures. */
  watch(database: Pick<Database, 'call'>): Database['call'] {
    return (text, values) => {
      const result = database.call<never>(text, values)
      result.then(
        () => this.#failedAtMs.size > 0 && this.#forget(text),
        error => this.#recordFailure(text, error),
      )
      return result
    }
  }

  #recordFailure(text: string, error: unknown): void {
    if (sqlStateOf(error) !== DISK_FULL) return
    const wasFull = this.#failedAtMs.size > 0
    this.#failedAtMs.set(text, performance.now())
    if (!wasFull) this.onChange(true)
  }

  #forget(text: string): void {
    if (this.#failedAtMs.delete(text) && this.#failedAtMs.size === 0) this.onChange(false)
  }
}

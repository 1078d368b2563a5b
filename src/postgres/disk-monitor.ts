/** Whether the database's disk is full: then statements that need room fail, and all others are answered. */
import { type DiskState, sqlStateOf } from './database.ts'

/** SQLSTATE: disk_full. */
const DISK_FULL = '53100'
/** Nobody asks for such a statement any more: nobody can tell. */
const FORGET_AFTER_MS = 300_000

type Call = <Row>(text: string, values: readonly unknown[], options?: { isUrgent?: boolean }) => Promise<Row[]>

export class DiskMonitor implements DiskState {
  /** Statements that found it full, and when. */
  readonly #refused = new Map<string, number>()
  onChange: (isFull: boolean) => void = () => {}

  /** Until each statement that failed has succeeded. */
  get isFull(): boolean {
    const oldestMs = performance.now() - FORGET_AFTER_MS
    for (const [text, atMs] of this.#refused) if (atMs < oldestMs) this.#forget(text)
    return this.#refused.size > 0
  }

  /** The same calls, watched. */
  watch(call: Call): Call {
    return (text, values, options) => {
      const answer = call<never>(text, values, options)
      answer.then(
        () => this.#refused.size > 0 && this.#forget(text),
        error => this.#noteFailure(text, error),
      )
      return answer
    }
  }

  #noteFailure(text: string, error: unknown): void {
    if (sqlStateOf(error) !== DISK_FULL) return
    const wasFull = this.#refused.size > 0
    this.#refused.set(text, performance.now())
    if (!wasFull) this.onChange(true)
  }

  #forget(text: string): void {
    if (this.#refused.delete(text) && this.#refused.size === 0) this.onChange(false)
  }
}

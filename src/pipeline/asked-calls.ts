/** What providers were asked for one request: what each call may have cost, until its usage is known. */
import { mayHaveCost } from './presumed-usage.ts'
import type { Spent, SpentUsage } from './spent-usage.ts'

interface Call {
  model: string
  presume: () => SpentUsage
  /** The status with which its provider began to answer; null: not yet. */
  answered: number | null
}

export class AskedCalls {
  /** Of calls whose usage nobody will learn. */
  readonly presumed: Spent[] = []
  #open: Call | null = null

  /** Whether the usage of the call that is open would be presumed. */
  get isUnknown(): boolean {
    return this.#open?.presume().isPresumed === true
  }

  begin(model: string, presume: () => SpentUsage): void {
    this.#open = { model, presume, answered: null }
  }

  noteAnswered(status: number): void {
    if (this.#open) this.#open.answered = status
  }

  /** Its usage is known. */
  end(): void {
    this.#open = null
  }

  /** It failed before its usage was known. */
  fail(failure: unknown): void {
    const call = this.#open
    this.#open = null
    if (call && mayHaveCost(failure, call.answered)) this.presumed.push({ model: call.model, usage: call.presume() })
  }
}

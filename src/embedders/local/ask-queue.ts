/** The queue of what a model is asked for, in order of arrival: first what requests wait for, then the rest. */
import { startTimeLimit } from '../../event-loop/time-limit.ts'
import type { ModelChild } from './model-child.ts'
import type { ModelAsk, ModelResult, ModelResults } from './model-protocol.ts'

/** One is being computed and one is ready. The others wait here, where a crash of the model does not lose them. */
const ASKS_AT_THE_MODEL = 2
/** As many asks may wait that nobody waits for. Each keeps an answer in memory that is stored with its vector. */
const MOST_LATER = 256
/** A model that takes longer for one ask counts as hung. */
const ASK_TIME_LIMIT_MS = 10_000
/** Assumed time per ask until one was measured. */
const FIRST_GUESS_MS = 10

interface Job {
  ask: ModelAsk
  settle(result: ModelResult): void
}

export interface AskQueue {
  /** Resolves to null when the model cannot do it. Never rejects. */
  add<K extends keyof ModelResults>(ask: ModelAsk & { kind: K }): Promise<ModelResults[K] | null>
  /** The same after everything that somebody waits for. Resolves to null, too, when too much waits already. */
  addLater<K extends keyof ModelResults>(ask: ModelAsk & { kind: K }): Promise<ModelResults[K] | null>
  /** Handles the reply to an ask that was sent. */
  answer(id: number, result: ModelResult): void
  /**
   * Sets the current model process; null for none. Asks that the last one had not answered are dropped, because one of them may have
   * crashed it.
   */
  serveFrom(next: ModelChild | null): void
  /** Drops everything that waits. */
  clear(): void
  /** Expected wait for an ask that is added now, and not for later, from the latest measurement. */
  waitMs(): number
}

export function createAskQueue(): AskQueue {
  const waiting: Job[] = []
  const later: Job[] = []
  const sent = new Map<number, Job>()
  let model: ModelChild | null = null
  let lastId = 0
  let averageMs = FIRST_GUESS_MS
  let startedAtMs = 0
  let endLimit: (() => void) | null = null

  function sendNext(): void {
    while (model && sent.size < ASKS_AT_THE_MODEL) {
      const job = waiting.shift() ?? later.shift()
      if (!job) break
      if (sent.size === 0) startedAtMs = performance.now()
      sent.set(++lastId, job)
      model.send({ id: lastId, ...job.ask })
    }
    endLimit?.()
    const watched = model
    endLimit = sent.size === 0 ? null : startTimeLimit(ASK_TIME_LIMIT_MS, () => watched?.kill())
  }

  function put<K extends keyof ModelResults>(queue: Job[], ask: ModelAsk) {
    const { promise, resolve } = Promise.withResolvers<ModelResults[K] | null>()
    // The model gives each ask a result of its kind.
    queue.push({ ask, settle: result => resolve(result as ModelResults[K]) })
    sendNext()
    return promise
  }

  return {
    add<K extends keyof ModelResults>(ask: ModelAsk & { kind: K }) {
      return put<K>(waiting, ask)
    },
    async addLater<K extends keyof ModelResults>(ask: ModelAsk & { kind: K }) {
      return later.length < MOST_LATER ? put<K>(later, ask) : null
    },
    answer(id, result) {
      const job = sent.get(id)
      if (!job) return
      sent.delete(id)
      const nowMs = performance.now()
      averageMs += (nowMs - startedAtMs - averageMs) / 8
      startedAtMs = nowMs
      job.settle(result)
      sendNext()
    },
    serveFrom(next) {
      for (const job of sent.values()) job.settle(null)
      sent.clear()
      model = next
      sendNext()
    },
    clear() {
      for (const job of [...waiting.splice(0), ...later.splice(0)]) job.settle(null)
      this.serveFrom(null)
    },
    waitMs: () => (waiting.length + sent.size) * averageMs,
  }
}

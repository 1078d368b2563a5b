/** Texts on their way through a model, in the order they came. */
import { startTimeLimit } from '../../event-loop/time-limit.ts'
import type { ModelChild } from './model-child.ts'

/** One is computed, the next lies ready; the others wait here, where a crash does not take them along. */
const TEXTS_AT_THE_MODEL = 2
/** A model that takes longer over one text hangs. */
const TEXT_TIME_LIMIT_MS = 10_000
/** What a text takes, until the model has shown it. */
const FIRST_GUESS_MS = 10

interface Job {
  text: string
  settle(vector: Float32Array | null): void
}

export interface TextQueue {
  /** Resolves with null where the model cannot give a vector. Never rejects. */
  add(text: string): Promise<Float32Array | null>
  /** The answer to a text that was sent. */
  answer(id: number, vector: Float32Array | null): void
  /** The model that is there now; null: none. What the last one had not answered is given up: it may be what ended it. */
  serveFrom(next: ModelChild | null): void
  /** Gives up all that wait. */
  clear(): void
  /** How long a text that came now would wait for the others, by what the latest took. */
  waitMs(): number
}

export function createTextQueue(): TextQueue {
  const waiting: Job[] = []
  const sent = new Map<number, Job>()
  let model: ModelChild | null = null
  let lastId = 0
  let averageMs = FIRST_GUESS_MS
  let startedAtMs = 0
  let endLimit: (() => void) | null = null

  function sendNext(): void {
    while (model && sent.size < TEXTS_AT_THE_MODEL) {
      const job = waiting.shift()
      if (!job) break
      if (sent.size === 0) startedAtMs = performance.now()
      sent.set(++lastId, job)
      model.send({ id: lastId, text: job.text })
    }
    endLimit?.()
    const watched = model
    endLimit = sent.size === 0 ? null : startTimeLimit(TEXT_TIME_LIMIT_MS, () => watched?.kill())
  }

  return {
    add(text) {
      const { promise, resolve } = Promise.withResolvers<Float32Array | null>()
      waiting.push({ text, settle: resolve })
      sendNext()
      return promise
    },
    answer(id, vector) {
      const job = sent.get(id)
      if (!job) return
      sent.delete(id)
      const nowMs = performance.now()
      averageMs += (nowMs - startedAtMs - averageMs) / 8
      startedAtMs = nowMs
      job.settle(vector)
      sendNext()
    },
    serveFrom(next) {
      for (const job of sent.values()) job.settle(null)
      sent.clear()
      model = next
      sendNext()
    },
    clear() {
      for (const job of waiting.splice(0)) job.settle(null)
      this.serveFrom(null)
    },
    waitMs: () => (waiting.length + sent.size) * averageMs,
  }
}

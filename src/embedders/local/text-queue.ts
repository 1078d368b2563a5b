/** The queue of texts for a model, in order of arrival. */
import { startTimeLimit } from '../../event-loop/time-limit.ts'
import type { ModelChild } from './model-child.ts'

/** One is being computed and one is ready. The others wait here, where a crash of the model does not lose them. */
const TEXTS_AT_THE_MODEL = 2
/** A model that takes longer for one text counts as hung. */
const TEXT_TIME_LIMIT_MS = 10_000
/** Assumed time per text until one was measured. */
const FIRST_GUESS_MS = 10

interface Job {
  text: string
  settle(vector: Float32Array | null): void
}

export interface TextQueue {
  /** Resolves to null when the model cannot give a vector. Never rejects. */
  add(text: string): Promise<Float32Array | null>
  /** Handles the reply to a text that was sent. */
  answer(id: number, vector: Float32Array | null): void
  /**
   * Sets the current model process; null for none. Texts that the last one had not answered are dropped, because one of them may have
   * crashed it.
   */
  serveFrom(next: ModelChild | null): void
  /** Drops every queued text. */
  clear(): void
  /** Expected wait for a text queued now, from the latest measurement. */
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

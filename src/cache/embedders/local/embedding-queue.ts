/** The queue of texts for the model, in order of arrival. Texts that requests wait for come first. */
import { startTimeout } from '../../../event-loop/timeouts.ts'
import type { ModelChildProcess } from './model-child-process.ts'

/** Requests sent to the model: one is computed, one is next. The others wait here, where a crash of the model does not lose them. */
const MAX_SENT = 2
/** Maximum waiting texts of low priority, of at most 2,000 characters each. */
const MAX_LOW_PRIORITY = 10_000
/** A model that takes longer for one text is treated as hung. */
const EMBED_TIME_LIMIT_MS = 10_000
/** Estimated time per text until one is measured. */
const INITIAL_ESTIMATE_MS = 10

interface Job {
  text: string
  name: string
  settle(vector: Float32Array | null): void
}

export interface EmbeddingQueue {
  /** Resolves to the vector; null when the model cannot embed the text. Never rejects. `name` identifies the text and its owner. */
  add(text: string, name: string): Promise<Float32Array | null>
  /** Like `add`, after all texts that requests wait for. Also resolves to null when the low-priority queue is full. */
  addLowPriority(text: string, name: string): Promise<Float32Array | null>
  /** Moves a low-priority text to the main queue, because a request waits for it now. */
  raisePriority(name: string): void
  /** Handles the model's reply to a request. */
  settle(id: number, vector: Float32Array | null): void
  /**
   * Sets the current model process; null for none. Requests that the previous process had not answered resolve to null, because one of
   * them may have crashed it.
   */
  setProcess(next: ModelChildProcess | null): void
  /** Resolves all requests to null. */
  clear(): void
  /** Returns the estimated wait of a text that is added now, in milliseconds. */
  estimateWaitMs(): number
}

export function createEmbeddingQueue(): EmbeddingQueue {
  const waiting: Job[] = []
  const lowPriority: Job[] = []
  const sent = new Map<number, Job>()
  let model: ModelChildProcess | null = null
  let lastId = 0
  let averageMs = INITIAL_ESTIMATE_MS
  let startedAtMs = 0
  let endLimit: (() => void) | null = null

  function sendNext(): void {
    while (model && sent.size < MAX_SENT) {
      const job = waiting.shift() ?? lowPriority.shift()
      if (!job) break
      if (sent.size === 0) startedAtMs = performance.now()
      sent.set(++lastId, job)
      model.send({ id: lastId, text: job.text })
    }
    endLimit?.()
    const watched = model
    endLimit = sent.size === 0 ? null : startTimeout(EMBED_TIME_LIMIT_MS, () => watched?.kill())
  }

  function enqueue(queue: Job[], text: string, name: string) {
    const { promise, resolve } = Promise.withResolvers<Float32Array | null>()
    queue.push({ text, name, settle: resolve })
    sendNext()
    return promise
  }

  return {
    add: (text, name) => enqueue(waiting, text, name),
    addLowPriority: async (text, name) =>
      lowPriority.length < MAX_LOW_PRIORITY ? enqueue(lowPriority, text, name) : null,
    raisePriority(name) {
      const at = lowPriority.findIndex(job => job.name === name)
      if (at >= 0) waiting.push(...lowPriority.splice(at, 1))
    },
    settle(id, vector) {
      const job = sent.get(id)
      if (!job) return
      sent.delete(id)
      const nowMs = performance.now()
      averageMs += (nowMs - startedAtMs - averageMs) / 8
      startedAtMs = nowMs
      job.settle(vector)
      sendNext()
    },
    setProcess(next) {
      for (const job of sent.values()) job.settle(null)
      sent.clear()
      model = next
      sendNext()
    },
    clear() {
      for (const job of [...waiting.splice(0), ...lowPriority.splice(0)]) job.settle(null)
      this.setProcess(null)
    },
    estimateWaitMs: () => (waiting.length + sent.size) * averageMs,
  }
}

/** The queue of what a model is asked for, in order of arrival: first what requests wait for, then the rest. */
import { startTimeout } from '../../../event-loop/timeouts.ts'
import type { ModelChildProcess } from './model-child-process.ts'

/** One is being computed and one is ready. The others wait here, where a crash of the model does not lose them. */
const ASKS_AT_THE_MODEL = 2
/** As many texts may wait that nobody waits for, of two thousand characters at most. */
const MOST_LATER = 10_000
/** A model that takes longer for one ask counts as hung. */
const ASK_TIME_LIMIT_MS = 10_000
/** Assumed time per ask until one was measured. */
const FIRST_GUESS_MS = 10

interface Job {
  text: string
  name: string
  settle(vector: Float32Array | null): void
}

export interface EmbeddingQueue {
  /** Resolves to null when the model cannot do it. Never rejects. `name`: of the text and its owner. */
  add(text: string, name: string): Promise<Float32Array | null>
  /** The same after everything that somebody waits for. Resolves to null, too, when too much waits already. */
  addLowPriority(text: string, name: string): Promise<Float32Array | null>
  /** Somebody waits by now for what was added for later. */
  raisePriority(name: string): void
  /** Handles the reply to an ask that was sent. */
  settle(id: number, vector: Float32Array | null): void
  /**
   * Sets the current model process; null for none. Asks that the last one had not answered are dropped, because one of them may have
   * crashed it.
   */
  setProcess(next: ModelChildProcess | null): void
  /** Drops everything that waits. */
  clear(): void
  /** Expected wait for an ask that is added now, and not for later, from the latest measurement. */
  estimateWaitMs(): number
}

export function createEmbeddingQueue(): EmbeddingQueue {
  const waiting: Job[] = []
  const later: Job[] = []
  const sent = new Map<number, Job>()
  let model: ModelChildProcess | null = null
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
      model.send({ id: lastId, text: job.text })
    }
    endLimit?.()
    const watched = model
    endLimit = sent.size === 0 ? null : startTimeout(ASK_TIME_LIMIT_MS, () => watched?.kill())
  }

  function put(queue: Job[], text: string, name: string) {
    const { promise, resolve } = Promise.withResolvers<Float32Array | null>()
    queue.push({ text, name, settle: resolve })
    sendNext()
    return promise
  }

  return {
    add: (text, name) => put(waiting, text, name),
    addLowPriority: async (text, name) => (later.length < MOST_LATER ? put(later, text, name) : null),
    raisePriority(name) {
      const at = later.findIndex(job => job.name === name)
      if (at >= 0) waiting.push(...later.splice(at, 1))
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
      for (const job of [...waiting.splice(0), ...later.splice(0)]) job.settle(null)
      this.setProcess(null)
    },
    estimateWaitMs: () => (waiting.length + sent.size) * averageMs,
  }
}

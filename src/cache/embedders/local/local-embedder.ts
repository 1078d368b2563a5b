/** Embeds with a model on this machine. Without a vector in time, the request goes on without one. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createSharedTimeout } from '../../../event-loop/timeouts.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { LocalEmbedder } from '../embedder.ts'
import { startModelSupervisor } from './model-supervisor.ts'

/** A longer text would exceed the tokens that a model reads. It is refused without asking the model. */
const MOST_CHARACTERS = 2_000
/** Longest wait of a request. What would wait longer by estimate is refused at once, and its vector is made when the answer is stored. */
const TIME_LIMIT_MS = 400
const MOST_REMEMBERED = 4_096

/** Rejects, with a reason for the operator, when the folder's model does not load. `timeLimitMs`: the longest wait of a request. */
export async function createLocalEmbedder(
  folder: string,
  log: Log,
  { timeLimitMs = TIME_LIMIT_MS } = {},
): Promise<LocalEmbedder> {
  const model = await startModelSupervisor(folder, log)
  const recent = new LRUCache<string, Promise<Float32Array | null>>({ max: MOST_REMEMBERED })
  const withinLimit = createSharedTimeout(timeLimitMs)

  function askOnce(text: string, owner: string, ask: 'add' | 'addLowPriority'): Promise<Float32Array | null> {
    const name = createHash('sha256').update(`${owner}\n${text}`).digest('base64')
    const known = recent.get(name)
    if (known) {
      if (ask === 'add' && Bun.peek.status(known) === 'pending') model.queue.raisePriority(name)
      return known
    }
    if (ask === 'add' && model.queue.estimateWaitMs() > timeLimitMs) return Promise.resolve(null)
    const asked = model.queue[ask](text, name)
    recent.set(name, asked)
    asked.then(vector => vector ?? recent.delete(name))
    return asked
  }

  return {
    space: { model: model.name, dimensions: model.dimensions },
    isFree: false,
    endpoint: null,
    async embed(text, owner) {
      if (text.length > MOST_CHARACTERS) return null
      return withinLimit(askOnce(text, owner, 'add')).catch(() => null)
    },
    async embedInBackground(text, owner) {
      return text.length > MOST_CHARACTERS ? null : askOnce(text, owner, 'addLowPriority')
    },
    close: model.close,
  }
}

/** Embeds with a model on this machine. Without a vector in time, the request continues without one. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createSharedTimeout } from '../../../event-loop/timeouts.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { LocalEmbedder } from '../embedder.ts'
import { startModelSupervisor } from './model-supervisor.ts'

/** A longer text would exceed the tokens that a model reads, and gets no vector. */
const MAX_CHARACTERS = 2_000
/** Longest wait of a request. If the estimated wait is longer, it gets no vector, which is then computed when its response is stored. */
const TIME_LIMIT_MS = 400
const MAX_CACHED = 4_096

/** Creates the embedder. Rejects with an error for the operator when the folder's model does not load. `timeLimitMs` limits a request's wait. */
export async function createLocalEmbedder(
  folder: string,
  log: Log,
  { timeLimitMs = TIME_LIMIT_MS } = {},
): Promise<LocalEmbedder> {
  const model = await startModelSupervisor(folder, log)
  const recent = new LRUCache<string, Promise<Float32Array | null>>({ max: MAX_CACHED })
  const withTimeLimit = createSharedTimeout(timeLimitMs)

  function embedCached(text: string, owner: string, method: 'add' | 'addLowPriority'): Promise<Float32Array | null> {
    const name = createHash('sha256').update(`${owner}\n${text}`).digest('base64')
    const known = recent.get(name)
    if (known) {
      if (method === 'add' && Bun.peek.status(known) === 'pending') model.queue.raisePriority(name)
      return known
    }
    if (method === 'add' && model.queue.estimateWaitMs() > timeLimitMs) return Promise.resolve(null)
    const embedding = model.queue[method](text, name)
    recent.set(name, embedding)
    embedding.then(vector => vector ?? recent.delete(name))
    return embedding
  }

  return {
    space: { model: model.name, dimensions: model.dimensions },
    isFree: false,
    endpoint: null,
    async embed(text, owner) {
      if (text.length > MAX_CHARACTERS) return null
      return withTimeLimit(embedCached(text, owner, 'add')).catch(() => null)
    },
    async embedInBackground(text, owner) {
      return text.length > MAX_CHARACTERS ? null : embedCached(text, owner, 'addLowPriority')
    },
    close: model.close,
  }
}

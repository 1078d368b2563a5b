/** Embeds with a model on this machine. Without a vector in time, the request goes on without one. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createTimeLimit } from '../../event-loop/time-limit.ts'
import type { Log } from '../../telemetry/log.ts'
import type { LocalEmbedder } from '../embedder.ts'
import { startModelProcess } from './model-process.ts'

/** A longer text would exceed the tokens that a model reads. It is refused without asking the model. */
const MOST_CHARACTERS = 2_000
/**
 * What would wait longer in the queue is refused. The queue stays short, and no vector is computed after its request gave up. When
 * a response is stored without a vector, its text is embedded then.
 */
const PATIENCE_MS = 150
/** Upper bound on the wait, whatever the estimate says. */
const TIME_LIMIT_MS = 500
const MOST_REMEMBERED = 4_096

/** Rejects, with a reason for the operator, when the folder's model does not load. */
export async function openLocalEmbedder(folder: string, log: Log): Promise<LocalEmbedder> {
  const model = await startModelProcess(folder, log)
  const recent = new LRUCache<string, Promise<Float32Array | null>>({ max: MOST_REMEMBERED })
  const withinLimit = createTimeLimit(TIME_LIMIT_MS)

  function askOnce(text: string, owner: string): Promise<Float32Array | null> {
    const name = createHash('sha256').update(`${owner}\n${text}`).digest('base64')
    const known = recent.get(name)
    if (known) return known
    if (model.asks.waitMs() > PATIENCE_MS) return Promise.resolve(null)
    const asked = model.asks.add({ kind: 'embed', text, owner })
    recent.set(name, asked)
    asked.then(vector => vector ?? recent.delete(name))
    return asked
  }

  return {
    space: { model: model.name, dimensions: model.dimensions },
    isFree: false,
    asks: null,
    async embed(text, owner) {
      if (text.length > MOST_CHARACTERS) return null
      return withinLimit(askOnce(text, owner)).catch(() => null)
    },
    async align(one, other, owner) {
      if (one.length > MOST_CHARACTERS || other.length > MOST_CHARACTERS) return null
      if (model.asks.waitMs() > PATIENCE_MS) return null
      return withinLimit(model.asks.add({ kind: 'align', one, other, owner })).catch(() => null)
    },
    close: model.close,
  }
}

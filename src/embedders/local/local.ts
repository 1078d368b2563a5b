/** Embeds with a model on this machine. What cannot be had in time is done without. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createTimeLimit } from '../../event-loop/time-limit.ts'
import type { Log } from '../../telemetry/log.ts'
import type { LocalEmbedder } from '../embedder.ts'
import { startModelProcess } from './model-process.ts'

/** More than that does not fit into the tokens that a model reads of a text; and it need not be sent to learn it. */
const MOST_CHARACTERS = 2_000
/**
 * Who would have to wait longer for others' texts is refused: so the queue stays short, and no text is computed that nobody waits
 * for. An answer that is stored without a vector asks again first.
 */
const PATIENCE_MS = 150
/** Nobody waits longer, whatever was expected. */
const TIME_LIMIT_MS = 500
const MOST_REMEMBERED = 4_096

/** Rejects, with a reason for the operator, where the folder's model does not load. */
export async function openLocalEmbedder(folder: string, log: Log): Promise<LocalEmbedder> {
  const model = await startModelProcess(folder, log)
  const recent = new LRUCache<string, Promise<Float32Array | null>>({ max: MOST_REMEMBERED })
  const withinLimit = createTimeLimit(TIME_LIMIT_MS)

  function askOnce(text: string, owner: string): Promise<Float32Array | null> {
    const name = createHash('sha256').update(`${owner}\n${text}`).digest('base64')
    const known = recent.get(name)
    if (known) return known
    if (model.texts.waitMs() > PATIENCE_MS) return Promise.resolve(null)
    const asked = model.texts.add(text)
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
    close: model.close,
  }
}

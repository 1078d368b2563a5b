/** Runs a model in a separate process, so that neither its load nor a crash affects the proxy. A process that ends is replaced. */
import { errorMessageOf } from '../../../telemetry/describe-cause.ts'
import type { Log } from '../../../telemetry/log.ts'
import { createEmbeddingQueue, type EmbeddingQueue } from './embedding-queue.ts'
import { type ModelChildProcess, type ModelResponse, spawnModelProcess } from './model-child-process.ts'

/** Pause before an ended process is replaced; doubled while replacements do not last either. */
const LEAST_PAUSE_MS = 200
const MOST_PAUSE_MS = 10_000
const LASTING_MS = 10_000

export interface ModelSupervisor {
  readonly name: string
  readonly dimensions: number
  readonly queue: Pick<EmbeddingQueue, 'add' | 'addLowPriority' | 'raisePriority' | 'estimateWaitMs'>
  /** Resolves when the process has ended. */
  close(): Promise<void>
}

/** Rejects, with a reason for the operator, when the folder's model does not load. */
export async function startModelSupervisor(folder: string, log: Log): Promise<ModelSupervisor> {
  const asks = createEmbeddingQueue()
  let child = spawnModelProcess(folder, onAnswer)
  let isClosed = false

  function report(error: unknown, message: string): void {
    log.failures.report('embed', error, message, { fields: { reason: errorMessageOf(error) } })
  }

  function onAnswer(answer: ModelResponse): void {
    if (answer.kind === 'error') report(new Error(answer.reason), 'a prompt could not be embedded by the model')
    else log.failures.recover('embed')
    asks.settle(answer.id, answer.kind === 'result' ? answer.vector : null)
  }

  /** Returns after `close`. */
  async function keepServing(first: ModelChildProcess, name: string): Promise<void> {
    let pauseMs = LEAST_PAUSE_MS
    for (let current = first; ; current = child = spawnModelProcess(folder, onAnswer)) {
      const startedAtMs = performance.now()
      if (await loads(current, name)) asks.setProcess(current)
      const how = await current.ended
      asks.setProcess(null)
      if (isClosed) return
      if (performance.now() - startedAtMs > LASTING_MS) pauseMs = LEAST_PAUSE_MS
      report(new Error(how), 'the model’s process ended; another takes its place')
      await Bun.sleep(pauseMs)
      if (isClosed) return
      pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)
    }
  }

  /** Waits for the model to load, and kills the process if it is unusable. */
  async function loads(current: ModelChildProcess, name: string): Promise<boolean> {
    try {
      const loaded = await current.loaded
      // Its vectors must not be mixed with those of the model that the proxy started with.
      if (loaded.name !== name) throw new Error('the folder holds another model now; restart the proxy to use it')
      return true
    } catch (error) {
      if (!isClosed) report(error, 'the model does not load')
      current.kill()
      return false
    }
  }

  const { name, dimensions } = await child.loaded.catch(error => {
    child.kill()
    throw error
  })
  const serving = keepServing(child, name)
  return {
    name,
    dimensions,
    queue: asks,
    async close() {
      isClosed = true
      asks.clear()
      child.kill()
      await Promise.race([serving, child.ended])
    },
  }
}

/** Runs a model in a separate process, so that neither its load nor a crash affects the proxy. Replaces a process that ends. */
import { errorMessageOf } from '../../../telemetry/describe-cause.ts'
import type { Log } from '../../../telemetry/log.ts'
import { createEmbeddingQueue, type EmbeddingQueue } from './embedding-queue.ts'
import { type ModelChildProcess, type ModelResponse, spawnModelProcess } from './model-child-process.ts'

/** Pause before an ended process is replaced. It doubles while replacements end soon, too. */
const MIN_PAUSE_MS = 200
const MAX_PAUSE_MS = 10_000
const STABLE_AFTER_MS = 10_000

export interface ModelSupervisor {
  readonly name: string
  readonly dimensions: number
  readonly queue: Pick<EmbeddingQueue, 'add' | 'addLowPriority' | 'raisePriority' | 'estimateWaitMs'>
  /** Resolves when the process has ended. */
  close(): Promise<void>
}

/** Starts the model. Rejects with an error for the operator when the folder's model does not load. */
export async function startModelSupervisor(folder: string, log: Log): Promise<ModelSupervisor> {
  const queue = createEmbeddingQueue()
  let child = spawnModelProcess(folder, onResponse)
  let isClosed = false

  function report(error: unknown, message: string): void {
    log.failures.report('embed', error, message, { fields: { reason: errorMessageOf(error) } })
  }

  function onResponse(response: ModelResponse): void {
    if (response.kind === 'error') report(new Error(response.reason), 'a prompt could not be embedded by the model')
    else log.failures.recover('embed')
    queue.settle(response.id, response.kind === 'result' ? response.vector : null)
  }

  /** Replaces ended processes until `close`. */
  async function superviseProcess(first: ModelChildProcess, name: string): Promise<void> {
    let pauseMs = MIN_PAUSE_MS
    for (let current = first; ; current = child = spawnModelProcess(folder, onResponse)) {
      const startedAtMs = performance.now()
      if (await waitUntilLoaded(current, name)) queue.setProcess(current)
      const exitReason = await current.ended
      queue.setProcess(null)
      if (isClosed) return
      if (performance.now() - startedAtMs > STABLE_AFTER_MS) pauseMs = MIN_PAUSE_MS
      report(new Error(exitReason), 'the model process ended; it is being replaced')
      await Bun.sleep(pauseMs)
      if (isClosed) return
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    }
  }

  /** Waits for the model to load. Kills the process and resolves to false if it is unusable. */
  async function waitUntilLoaded(current: ModelChildProcess, name: string): Promise<boolean> {
    try {
      const loaded = await current.loaded
      // Vectors of another model must not be mixed with those of the model that the proxy started with.
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
  const supervision = superviseProcess(child, name)
  return {
    name,
    dimensions,
    queue,
    async close() {
      isClosed = true
      queue.clear()
      child.kill()
      await Promise.race([supervision, child.ended])
    },
  }
}

/** Entry point of the model process. It receives texts and sends their vectors, in order. It ends with the proxy. */
import { setPriority } from 'node:os'
import { loadEmbeddingModel } from './load-model.ts'
import type { ModelMessage, ModelRequest } from './model-protocol.ts'

/** Scheduling priority: 0 is normal, 19 is the lowest. */
const PRIORITY = 10

// A terminal or container signals the proxy, too, which still has requests to finish.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))

// Requests have priority: a late vector costs a match, a late response is a failure.
setPriority(PRIORITY)

const [folder = ''] = process.argv.slice(3)

try {
  const model = await loadEmbeddingModel(folder)
  let last: Promise<void> = Promise.resolve()
  process.on('message', ({ id, text }: ModelRequest) => {
    last = last
      .then(() => model.embed(text))
      .then(
        vector => send({ kind: 'result', id, vector }),
        error => send({ kind: 'error', id, reason: reasonOf(error) }),
      )
  })
  send({ kind: 'ready', name: model.name, dimensions: model.dimensions })
} catch (error) {
  send({ kind: 'failed', reason: reasonOf(error) })
}

function send(message: ModelMessage): void {
  process.send?.(message)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

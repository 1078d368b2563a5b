/** Entry of the process that runs a model: texts come in, vectors go out, in order. It lives as long as the proxy it belongs to. */
import { loadModel } from './load-model.ts'
import type { EmbedRequest, ModelMessage } from './model-protocol.ts'

// The terminal, or a container's end, signals the proxy too, which has requests to finish first.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))

const [folder = ''] = process.argv.slice(2)

try {
  const model = await loadModel(folder)
  let last: Promise<void> = Promise.resolve()
  process.on('message', ({ id, text }: EmbedRequest) => {
    last = last
      .then(() => model.embed(text))
      .then(
        vector => send({ kind: 'vector', id, vector }),
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

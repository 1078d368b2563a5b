/** A process that runs a model, from start to exit. */

import { SELF_COMMAND } from '../../../event-loop/self-command.ts'
import { startTimeout } from '../../../event-loop/timeouts.ts'
import type { ModelMessage, ModelRequest } from './model-protocol.ts'

/** A model that takes longer to load is treated as hung. */
const LOAD_TIME_LIMIT_MS = 60_000

export type ModelResponse = Extract<ModelMessage, { id: number }>

export interface ModelChildProcess {
  /** Resolves to the model's name and dimensions. Rejects with an error for the operator when it does not load. */
  readonly loaded: Promise<{ name: string; dimensions: number }>
  /** Resolves to the exit code or signal when the process has ended. */
  readonly ended: Promise<string>
  send(request: ModelRequest): void
  kill(): void
}

export function spawnModelProcess(folder: string, onResponse: (response: ModelResponse) => void): ModelChildProcess {
  const { promise: loaded, resolve, reject } = Promise.withResolvers<{ name: string; dimensions: number }>()
  const child = Bun.spawn([...SELF_COMMAND, '--model', folder], {
    // The process gets no environment and reads no .env file, so that it has none of the proxy's secrets.
    env: { BUN_OPTIONS: '--env-file=' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'advanced',
    ipc(message: ModelMessage) {
      if (message.kind === 'ready') resolve(message)
      else if (message.kind === 'failed') reject(new Error(message.reason))
      else onResponse(message)
    },
  })
  const endLimit = startTimeout(LOAD_TIME_LIMIT_MS, () => child.kill('SIGKILL'))
  const ended = child.exited.then(code => {
    const exitReason = child.signalCode ? String(child.signalCode) : `code ${code}`
    reject(new Error(`model process ended while loading the model (${exitReason})`))
    return exitReason
  })
  // The caller may await only `ended`, and the rejection of `loaded` must not be unhandled.
  loaded.catch(() => {}).finally(endLimit)
  return {
    loaded,
    ended,
    send(request) {
      // Sending fails if the process has ended, even if its exit is not reported yet. `ended` reports it.
      try {
        if (child.exitCode === null && child.signalCode === null) child.send(request)
      } catch {}
    },
    kill: () => child.kill('SIGKILL'),
  }
}

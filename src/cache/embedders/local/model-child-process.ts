/** One process that runs a model, from start to exit. */

import { SELF_COMMAND } from '../../../event-loop/self-command.ts'
import { startTimeout } from '../../../event-loop/timeouts.ts'
import type { ModelMessage, ModelRequest } from './model-protocol.ts'

/** A model that takes longer to load counts as hung. */
const LOAD_TIME_LIMIT_MS = 60_000

export type ModelResponse = Extract<ModelMessage, { id: number }>

export interface ModelChildProcess {
  /** Resolves to the model's name and dimensions; rejects, with a reason for the operator, when it does not load. */
  readonly loaded: Promise<{ name: string; dimensions: number }>
  /** Resolves to the exit code or signal when the process has ended. */
  readonly ended: Promise<string>
  send(request: ModelRequest): void
  kill(): void
}

export function spawnModelProcess(folder: string, onAnswer: (answer: ModelResponse) => void): ModelChildProcess {
  const { promise: loaded, resolve, reject } = Promise.withResolvers<{ name: string; dimensions: number }>()
  const child = Bun.spawn([...SELF_COMMAND, '--model', folder], {
    // The proxy's secrets are kept out: no environment, and no file of settings.
    env: { BUN_OPTIONS: '--env-file=' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'advanced',
    ipc(message: ModelMessage) {
      if (message.kind === 'ready') resolve(message)
      else if (message.kind === 'failed') reject(new Error(message.reason))
      else onAnswer(message)
    },
  })
  const endLimit = startTimeout(LOAD_TIME_LIMIT_MS, () => child.kill('SIGKILL'))
  const ended = child.exited.then(code => {
    const how = child.signalCode ? String(child.signalCode) : `code ${code}`
    reject(new Error(`its process ended while it was loading (${how})`))
    return how
  })
  // The caller may await only `ended`; without this the rejection would be unhandled.
  loaded.catch(() => {}).finally(endLimit)
  return {
    loaded,
    ended,
    send(request) {
      // A process that has ended cannot receive, also where its end is not known yet; `ended` reports it.
      try {
        if (child.exitCode === null && child.signalCode === null) child.send(request)
      } catch {}
    },
    kill: () => child.kill('SIGKILL'),
  }
}

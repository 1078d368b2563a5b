/** The schema worker: a schema that blocks or crashes it does not affect the server. */
import { lowerPriority } from '../../../event-loop/low-priority.ts'
import { currentThread } from '../../../event-loop/thread-time.ts'
import { findInstance } from './find-instance.ts'
import type { SchemaJob, WorkerMessage } from './schema-job.ts'
import { SchemaRefusal } from './schema-refusal.ts'

declare const self: Worker

lowerPriority()

self.onmessage = ({ data }: MessageEvent<SchemaJob>) => post(answer(data))

// Warms up: the first schema takes many times as long as later ones.
findInstance({ type: 'object', properties: { warm: { type: 'string' } } }, 1, true)
post({ kind: 'ready', thread: currentThread() })

function answer({ schemaText, seed, mustBeObject }: SchemaJob): WorkerMessage {
  try {
    return { kind: 'instance', text: findInstance(JSON.parse(schemaText), seed, mustBeObject) }
  } catch (error) {
    if (error instanceof SchemaRefusal) return { kind: 'refused', message: error.message }
    throw error
  }
}

function post(message: WorkerMessage): void {
  self.postMessage(message)
}

/** The worker that satisfies schemas: whatever a schema does to it, the server goes on. */
import { lowerPriority } from '../../../event-loop/low-priority.ts'
import { findInstance } from './find-instance.ts'
import type { SchemaJob, WorkerMessage } from './schema-job.ts'
import { SchemaRefusal } from './schema-refusal.ts'

declare const self: Worker

lowerPriority()

self.onmessage = ({ data }: MessageEvent<SchemaJob>) => post(answer(data))

// The first schema takes many times as long as those after it: here nobody waits for it.
findInstance({ type: 'object', properties: { warm: { type: 'string' } } }, 1, true)
post({ kind: 'ready' })

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

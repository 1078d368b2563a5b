/** The worker thread: runs jobs one by one, with a lower priority than the event loop. */
import { carryError } from '../errors.ts'
import { lowerPriority } from './low-priority.ts'
import type { JobDone, JobReply, JobRequest } from './off-loop.ts'

declare const self: Worker

lowerPriority()

self.onmessage = ({ data }: MessageEvent<JobRequest>) => void answer(data)

type Jobs = Record<string, ((input: unknown) => JobDone<unknown> | Promise<JobDone<unknown>>) | undefined>

async function answer({ module, name, input }: JobRequest): Promise<void> {
  try {
    const jobs: Jobs = await import(module)
    const done = await jobs[name]?.(input)
    if (!done) throw new Error(`${module} has no job ${name}`)
    const { output, transfer = [] } = done
    post({ output }, transfer)
  } catch (error) {
    post(carryError(error))
  }
}

function post(reply: JobReply, transfer: ArrayBuffer[] = []): void {
  self.postMessage(reply, transfer)
}

/** The worker thread: runs jobs one by one, with a lower priority than the event loop. */
import { carryError } from '../errors.ts'
import { lowerPriority } from './low-priority.ts'
import type { JobDone, JobReply, JobRequest } from './off-loop.ts'

declare const self: Worker

lowerPriority()

self.onmessage = ({ data }: MessageEvent<JobRequest>) => void answer(data)

async function answer({ module, input }: JobRequest): Promise<void> {
  try {
    const { run }: { run(input: unknown): JobDone<unknown> } = await import(module)
    const { output, transfer = [] } = await run(input)
    post({ output }, transfer)
  } catch (error) {
    post(carryError(error))
  }
}

function post(reply: JobReply, transfer: ArrayBuffer[] = []): void {
  self.postMessage(reply, transfer)
}

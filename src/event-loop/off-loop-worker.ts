/** The worker: runs one job after the other, behind the event loop where there is but one processor for the two. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { ProxyError } from '../errors.ts'
import { type JobDone, type JobReply, type JobRequest, noteOffLoop } from './off-loop.ts'

declare const self: Worker

/** Half a dozen steps: with both processors wanted, the event loop gets some four times as much as this thread. */
const NICENESS = 6

noteOffLoop()
yieldToEventLoop()

self.onmessage = ({ data }: MessageEvent<JobRequest>) => void answer(data)

async function answer({ module, input }: JobRequest): Promise<void> {
  try {
    const { run }: { run(input: unknown): JobDone<unknown> } = await import(module)
    const { output, transfer = [] } = await run(input)
    post({ output }, transfer)
  } catch (error) {
    post(describe(error))
  }
}

function describe(error: unknown): JobReply {
  if (!(error instanceof ProxyError)) return { failure: error instanceof Error ? error.message : String(error) }
  const { status, code, message, type, param, headers } = error
  return { refusal: { status, code, message, type, headers, ...(param === null ? {} : { param }) } }
}

function post(reply: JobReply, transfer: ArrayBuffer[] = []): void {
  self.postMessage(reply, transfer)
}

/** Linux has priorities of threads; elsewhere all are alike. */
function yieldToEventLoop(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').pop())
    if (thread !== process.pid) setPriority(thread, NICENESS)
  } catch {
    // Not on Linux, or not allowed.
  }
}

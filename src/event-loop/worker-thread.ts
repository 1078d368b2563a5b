/** The worker thread: runs jobs one by one, with a lower priority than the event loop once it is ready. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { serializeError } from '../errors/errors.ts'
import type { JobRequest, JobResponse, JobResult } from './worker-pool.ts'

declare const self: Worker

/** Under contention, the event loop gets some nine times as much processor time. */
const NICENESS = 10
let isReady = false

self.onmessage = ({ data }: MessageEvent<JobRequest>) => void answer(data)

type Run = (input: unknown) => JobResult<unknown> | Promise<JobResult<unknown>>

/** A module of jobs, which may load ahead what all of them need. */
type Jobs = Record<string, Run | undefined> & { prepare?: () => void }

async function answer({ module, name, input }: JobRequest): Promise<void> {
  try {
    const jobs: Jobs = await import(module)
    if (!isReady) getReady(jobs)
    const done = await jobs[name]?.(input)
    if (!done) throw new Error(`${module} has no job ${name}`)
    const { output, transfer = [] } = done
    post({ output }, transfer)
  } catch (error) {
    post(serializeError(error))
  }
}

/** At the event loop's own priority: on a machine that others keep busy, what takes half a second would take half a minute. */
function getReady(jobs: Jobs): void {
  isReady = true
  try {
    jobs.prepare?.()
  } finally {
    lowerPriority()
  }
}

function post(reply: JobResponse, transfer: ArrayBuffer[] = []): void {
  self.postMessage(reply, transfer)
}

/** Below the event loop's, for machines where the two share a processor. Only Linux has thread priorities; elsewhere this does nothing. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').pop())
    if (thread !== process.pid) setPriority(thread, NICENESS)
  } catch {
    // Not permitted, or not Linux.
  }
}

/** The worker thread. It runs jobs one by one, with a lower priority than the event loop once it has loaded its modules. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { serializeError } from '../errors/errors.ts'
import type { JobRequest, JobResponse, JobResult } from './worker-pool.ts'

declare const self: Worker

/** Under contention, the event loop gets about nine times as much processor time. */
const NICENESS = 10
let isReady = false

self.onmessage = ({ data }: MessageEvent<JobRequest>) => void run(data)

type JobFunction = (input: unknown) => JobResult<unknown> | Promise<JobResult<unknown>>

/** A module of jobs. Its `prepare`, if any, loads what all jobs need. */
type JobModule = Record<string, JobFunction | undefined> & { prepare?: () => void }

async function run({ module, name, input }: JobRequest): Promise<void> {
  try {
    const jobs: JobModule = await import(module)
    if (!isReady) prepareJobs(jobs)
    const done = await jobs[name]?.(input)
    if (!done) throw new Error(`job ${name} is not exported by ${module}`)
    const { output, transfer = [] } = done
    post({ output }, transfer)
  } catch (error) {
    post(serializeError(error))
  }
}

/** Loads modules at the event loop's priority. On a busy machine, a lower priority would turn half a second into half a minute. */
function prepareJobs(jobs: JobModule): void {
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

/** Lowers the thread's priority below the event loop's. Only Linux has thread priorities; elsewhere this does nothing. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').pop())
    if (thread !== process.pid) setPriority(thread, NICENESS)
  } catch {
    // The priority stays as it is: not permitted, or not Linux.
  }
}

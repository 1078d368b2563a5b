/** Lowers a worker thread's priority below the event loop's, for machines where the two share a processor. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Under contention, the event loop gets some nine times as much processor time. */
const NICENESS = 10

/** Only Linux has thread priorities; elsewhere this does nothing. */
export function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').pop())
    if (thread !== process.pid) setPriority(thread, NICENESS)
  } catch {
    // Not permitted, or not Linux.
  }
}

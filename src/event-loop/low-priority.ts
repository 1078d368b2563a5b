/** For a worker's own thread: puts it behind the event loop, where there is not a processor for each of the two. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** With both wanted, the event loop gets some nine times as much. */
const NICENESS = 10

/** Linux has priorities of threads; elsewhere all are alike. */
export function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').pop())
    if (thread !== process.pid) setPriority(thread, NICENESS)
  } catch {
    // Not on Linux, or not allowed.
  }
}

/** The processor time of threads: a busy machine does not count as work. */
import { readFileSync, readlinkSync } from 'node:fs'

/** The system's number of the calling thread; null where only Linux would tell. */
export function currentThread(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').pop())
  } catch {
    return null
  }
}

/** Milliseconds that a thread of this process has computed so far; null when that is not known. */
export function threadTimeMs(thread: number | null): number | null {
  if (thread === null) return null
  try {
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6
  } catch {
    return null
  }
}

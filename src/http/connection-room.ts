/** Limits how many requests a process takes at once, and keeps descriptors free for health checks and operators. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { refuse } from '../errors.ts'

/** For stores, files, the log, operators' sessions, and health checks. */
const KEPT_DESCRIPTORS = 64
/** A request may hold two: its client's and its upstream's. */
const DESCRIPTORS_A_REQUEST = 2
/** Above this share, idle connections are closed to make room for active ones. */
const CROWDED_SHARE = 0.75
const LOOK_EVERY_MS = 250
const DESCRIPTORS = '/proc/self/fd'

/** The part of Bun's server that is needed here. */
interface Server {
  readonly pendingRequests: number
  closeIdleConnections(): number
}

export interface ConnectionRoom {
  /** Throws a 503 when the process has as many requests in flight as it can hold. */
  check(server: Server): void
  /** Checks the process's descriptors periodically, and closes idle connections when they run short. */
  watch(server: Server, onCrowded: (closed: number) => void): { stop(): void }
}

/** `descriptors` is the process's limit of open descriptors. */
export function createConnectionRoom(
  descriptors = readDescriptorLimit(),
  countOpen = countDescriptors,
): ConnectionRoom {
  const most = Math.max(1, Math.floor((descriptors - KEPT_DESCRIPTORS) / DESCRIPTORS_A_REQUEST))
  const crowded = Math.floor(descriptors * CROWDED_SHARE)
  return {
    check(server) {
      if (server.pendingRequests > most) throw refuse('tooManyConnections')
    },
    watch(server, onCrowded) {
      const timer = setInterval(() => {
        if (countOpen() < crowded) return
        const closed = server.closeIdleConnections()
        if (closed > 0) onCrowded(closed)
      }, LOOK_EVERY_MS)
      timer.unref()
      return { stop: () => clearInterval(timer) }
    },
  }
}

/** Linux reports the limit; elsewhere, a usual value of such systems. */
function readDescriptorLimit(): number {
  const limits = readText('/proc/self/limits')
  const soft = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1]
  return soft === undefined ? 10_240 : Number(soft)
}

/** Newer kernels report the number as the folder's size; 0 on other systems. */
function countDescriptors(): number {
  try {
    return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length
  } catch {
    return 0
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

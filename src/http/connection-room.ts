/** How many requests a process takes at once, and what it does so that connections leave room for health and operators. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { refuse } from '../errors.ts'

/** For stores, files, the log, operators' sessions, and health. */
const KEPT_DESCRIPTORS = 64
/** A request may hold two: its client's and its upstream's. */
const DESCRIPTORS_A_REQUEST = 2
/** Idle connections go from here on, so that those with something to ask find room. */
const CROWDED_SHARE = 0.75
const LOOK_EVERY_MS = 250
const DESCRIPTORS = '/proc/self/fd'

/** The part of Bun's server that is needed here. */
interface Server {
  readonly pendingRequests: number
  closeIdleConnections(): number
}

export interface ConnectionRoom {
  /** Throws a 503 where the process has as many requests under way as it can hold. */
  check(server: Server): void
  /** Looks at the process's descriptors every moment, and closes connections that idle when they run short. */
  watch(server: Server, onCrowded: (closed: number) => void): { stop(): void }
}

/** `descriptors`: how many the process may have open. */
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

/** Linux tells; elsewhere, what such systems usually allow. */
function readDescriptorLimit(): number {
  const limits = readText('/proc/self/limits')
  const soft = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1]
  return soft === undefined ? 10_240 : Number(soft)
}

/** Newer kernels tell the number as the folder's size; 0 where nobody tells. */
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

/** What a proxy process holds: its memory, and its connections as the simulated upstream sees them. */
import { readFileSync } from 'node:fs'
import type { Subprocess } from 'bun'

export interface Sample {
  rssMib: number
  /** Upstream calls in flight. */
  active: number
  /** Including idle ones. */
  openConnections: number
  /** Of the proxy's process; null while it runs. */
  exitCode: number | null
}

export interface Watch {
  /** Resident memory when watching began. */
  startMib: number
  sample(): Promise<Sample>
  /** The lowest resident memory during `durationMs`: what is held, without garbage. */
  floorMib(durationMs: number): Promise<number>
}

const LOOK_EVERY_MS = 250

export function watchProxy(proxy: Subprocess, upstreamOrigin: string): Watch {
  const readRssMib = () => {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${proxy.pid}/status`, 'utf8')) ?? []
    return Number(kib ?? 0) / 1024
  }
  return {
    startMib: readRssMib(),
    async sample() {
      const counts = (await (await fetch(`${upstreamOrigin}/__counts`)).json()) as Record<string, number>
      const { active = 0, openConnections = 0 } = counts
      // One connection is the one that asks for the counts.
      return { rssMib: readRssMib(), active, openConnections: openConnections - 1, exitCode: proxy.exitCode }
    },
    async floorMib(durationMs) {
      const endAtMs = performance.now() + durationMs
      let least = Number.POSITIVE_INFINITY
      while (performance.now() < endAtMs) {
        least = Math.min(least, readRssMib())
        await Bun.sleep(Math.min(LOOK_EVERY_MS, Math.max(1, endAtMs - performance.now())))
      }
      return least
    },
  }
}

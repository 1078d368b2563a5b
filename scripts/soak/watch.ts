/** What a proxy process holds: its memory, and its connections as the simulated upstream sees them. */
import { readFileSync } from 'node:fs'
import type { Subprocess } from 'bun'

export interface Sample {
  /** Upstream calls in flight. */
  active: number
  /** Including idle ones. */
  openConnections: number
  /** Of the proxy's process; null while it runs. */
  exitCode: number | null
}

export async function sample(proxy: Subprocess, upstreamOrigin: string): Promise<Sample> {
  const counts = (await (await fetch(`${upstreamOrigin}/__counts`)).json()) as Record<string, number>
  const { active = 0, openConnections = 0 } = counts
  // One connection is the one that asks for the counts.
  return { active, openConnections: openConnections - 1, exitCode: proxy.exitCode }
}

const LOOK_EVERY_MS = 1_000

/** The resident memory of processes, in MiB. */
export interface MemoryWatch {
  now(): number[]
  /** The lowest of each process in that part of the time since the beginning: what is held, without garbage. */
  floors(fromShare: number, toShare: number): number[]
}

export function watchMemory(processes: readonly Subprocess[]): MemoryWatch {
  const seen: number[][] = []
  const now = () => processes.map(readRssMib)
  setInterval(() => seen.push(now()), LOOK_EVERY_MS).unref()
  return {
    now,
    floors(fromShare, toShare) {
      const part = seen.slice(Math.floor(seen.length * fromShare), Math.ceil(seen.length * toShare))
      return processes.map((_, i) => Math.min(...part.map(each => each[i] ?? 0)))
    },
  }
}

/** 0 once it has ended, which is told at the end. */
function readRssMib({ pid, exitCode }: Subprocess): number {
  if (exitCode !== null) return 0
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib ?? 0) / 1024
}

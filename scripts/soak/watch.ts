/** Measures a proxy process: its memory, and its connections to the fake provider. */
import { existsSync, readFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { readResidentMib } from '../bench/processor-time.ts'
import type { Upstream } from '../bench/targets.ts'

export interface Sample {
  /** Upstream calls in flight. */
  active: number
  /** Includes idle connections. */
  openConnections: number
  /** The process's exit code; null while it runs. */
  exitCode: number | null
}

export async function sample(proxy: Subprocess, upstream: Pick<Upstream, 'counts'>): Promise<Sample> {
  const { active, openConnections } = await upstream.counts()
  // Excludes the connection of this call.
  return { active, openConnections: openConnections - 1, exitCode: proxy.exitCode }
}

const LOOK_EVERY_MS = 1_000
const LOOKS_A_MINUTE = 60

/** A process, and the file that `tell-heap.ts` writes for it. */
export interface Watched {
  process: Subprocess
  heapFile: string
}

/** Memory of the processes in MiB. */
export interface MemoryWatch {
  /** Resident memory. */
  now(): number[]
  /** Per process over the second half of the run: the least resident memory per minute, and the heap after garbage collection. */
  trends(): { resident: Trend; heap: Trend }[]
}

export function watchMemory(watched: readonly Watched[]): MemoryWatch {
  const seen: number[][] = []
  const now = () => watched.map(each => readResidentMib([each.process.pid]))
  setInterval(() => {
    seen.push(now())
    if (seen.length % LOOKS_A_MINUTE !== 0) return
    for (const each of watched) if (each.process.exitCode === null) each.process.kill('SIGUSR2')
  }, LOOK_EVERY_MS).unref()
  return {
    now,
    trends: () =>
      watched.map(({ heapFile }, i) => ({
        resident: trendOf(secondHalf(leastOfEachMinute(seen.map(each => each[i] ?? 0)))),
        heap: trendOf(secondHalf(readNumbers(heapFile))),
      })),
  }
}

/** The rise of a series from its first to its last value, by the median slope of all pairs of values (Theil–Sen estimator). */
export interface Trend {
  last: number
  rise: number
  /** The rise that is exceeded with 97.5 % confidence. */
  leastRise: number
}

export function trendOf(values: readonly number[]): Trend {
  const slopes = values.flatMap((to, j) => values.slice(0, j).map((from, i) => (to - from) / (j - i)))
  slopes.sort((a, b) => a - b)
  const n = values.length
  const unsure = 1.96 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  const riseAt = (rank: number) => (slopes[Math.max(0, Math.floor(rank))] ?? 0) * (n - 1)
  return { last: values.at(-1) ?? 0, rise: riseAt(slopes.length / 2), leastRise: riseAt((slopes.length - unsure) / 2) }
}

function secondHalf(values: readonly number[]): readonly number[] {
  return values.slice(Math.floor(values.length / 2))
}

function leastOfEachMinute(values: readonly number[]): number[] {
  return Array.from({ length: Math.floor(values.length / LOOKS_A_MINUTE) }, (_, minute) =>
    Math.min(...values.slice(minute * LOOKS_A_MINUTE, (minute + 1) * LOOKS_A_MINUTE)),
  )
}

function readNumbers(file: string): number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : []
}

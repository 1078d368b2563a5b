/** Reads processor time and memory of processes on this machine from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100
const PAGE_MIB = 4_096 / 1_048_576

/** The fields after the process's name; null if the process has ended. */
function readStat(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/** A process's processor time in microseconds; 0 if it has ended. */
export function readProcessorTime(pid: number): number {
  const fields = readStat(pid)
  return fields ? ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND : 0
}

export function sumProcessorTime(pids: readonly number[]): number {
  return pids.reduce((total, pid) => total + readProcessorTime(pid), 0)
}

/** The sum of resident memory in MiB; an ended process adds 0. */
export function readResidentMib(pids: readonly number[]): number {
  return pids.reduce((total, pid) => total + Number(readStat(pid)?.[21] ?? 0) * PAGE_MIB, 0)
}

function listProcesses(): number[] {
  return readdirSync('/proc').flatMap(entry => (/^\d+$/.test(entry) ? [Number(entry)] : []))
}

/** Returns the processes whose command line contains all parts. */
export function findProcesses(...parts: string[]): number[] {
  return listProcesses().filter(pid => {
    try {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return parts.every(part => commandLine.includes(part))
    } catch {
      return false
    }
  })
}

/** Returns a process and all its descendants. */
export function findFamily(pid: number): number[] {
  const children = Map.groupBy(listProcesses(), each => Number(readStat(each)?.[1]))
  const family = [pid]
  for (const member of family) family.push(...(children.get(member) ?? []))
  return family
}

/** Returns the server processes of a database's client connections, without background workers, and the Redis server. */
export function findStoreProcesses({ DATABASE_URL, REDIS_URL }: { DATABASE_URL: string; REDIS_URL: string }) {
  return {
    postgres: findProcesses('postgres:', new URL(DATABASE_URL).pathname.slice(1), '('),
    redis: findProcesses('redis-server', `:${new URL(REDIS_URL).port || '6379'}`),
  }
}

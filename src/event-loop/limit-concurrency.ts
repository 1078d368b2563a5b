/** Limits how many tasks run at once; others are queued, and too many are refused. */
import { createError } from '../errors/errors.ts'

export function limitConcurrency(atOnce: number, mostWaiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = []
  let running = 0
  return async work => {
    if (line.length >= mostWaiting) throw createError('busy')
    if (running >= atOnce) await new Promise<void>(resolve => line.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      // The next in the queue takes over this slot, so `running` does not change.
      const next = line.shift()
      if (next) next()
      else running--
    }
  }
}

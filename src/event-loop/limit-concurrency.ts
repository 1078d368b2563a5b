/** Limits how many tasks run at once. Further tasks are queued. */
import { createError } from '../errors/errors.ts'

/** Returns a function that runs a task when fewer than `maxRunning` run. It rejects with 503 when `maxWaiting` tasks wait. */
export function limitConcurrency(maxRunning: number, maxWaiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  return async work => {
    if (queue.length >= maxWaiting) throw createError('busy')
    if (running >= maxRunning) await new Promise<void>(resolve => queue.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      // The next task takes this slot, so that `running` does not change.
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}

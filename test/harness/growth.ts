/** Whether work takes longer than its input's length explains: told by ratios within one run, so that a busy machine does not matter. */
import { processorMs } from './processor-time.ts'

/** Linear work takes four times as long for an input of four times the length, quadratic work sixteen. */
const TIMES_LONGER = 4
const MOST_TIMES = 9
/** What is done sooner is not looked at: its time is the machine's noise. */
const FLOOR_MS = 25
const TRIES = 4

/** Null, or how the time grew. Work that looks suspicious is tried again: what only this machine did, it does not do each time. */
export function findGrowth(chars: number, run: (chars: number) => unknown): string | null {
  let told: string | null = null
  for (let tried = 0; tried < TRIES; tried++) {
    const longMs = processorMs(() => run(chars * TIMES_LONGER))
    if (longMs < FLOOR_MS) return null
    const shortMs = median(Array.from({ length: 3 }, () => processorMs(() => run(chars))))
    if (longMs / shortMs < MOST_TIMES) return null
    told = `${chars} characters took ${shortMs.toFixed(1)} ms, ${TIMES_LONGER} times as many ${longMs.toFixed(1)} ms`
  }
  return told
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** Checks that work grows no faster than linearly. It compares times within one run, so that a busy machine does not matter. */
import { processorMs } from './processor-time.ts'

/** For an input of four times the length, linear work takes four times as long and quadratic work sixteen times. */
const TIMES_LONGER = 4
const MOST_TIMES = 9
/** Faster work is ignored, because its time is mostly noise. */
const FLOOR_MS = 25
const TRIES = 4

/** Returns null, or a description of the growth. Suspicious work is repeated, because a busy machine does not slow down every attempt. */
export function findGrowth(chars: number, run: (chars: number) => unknown): string | null {
  let growth: string | null = null
  for (let tried = 0; tried < TRIES; tried++) {
    const longMs = processorMs(() => run(chars * TIMES_LONGER))
    if (longMs < FLOOR_MS) return null
    const shortMs = median(Array.from({ length: 3 }, () => processorMs(() => run(chars))))
    if (longMs / shortMs < MOST_TIMES) return null
    growth = `${chars} characters took ${shortMs.toFixed(1)} ms, ${TIMES_LONGER} times as many ${longMs.toFixed(1)} ms`
  }
  return growth
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/**
 * Selects how many test cases a run contains. By default: a tenth of each matrix of cases and 20 runs of each property. With
 * `TEST_DEPTH=full`, as in CI: all cases, 100 runs, and both the embedded and the real stores. `TEST_SEED` determines the selection. It is
 * the same in every run, so that a change never fails on cases that it did not touch; `random` selects different cases.
 */
import fc from 'fast-check'
import { inject } from 'vitest'
import { createRandom } from './random.ts'

const FULL_RUNS = 100
const RUNS = 20
const DRAWN_PART = 0.1

export interface Depth {
  isFull: boolean
  seed: number
}

const { isFull, seed } = inject('depth')

/** The number of runs of each property. */
export const propertyRuns = isFull ? FULL_RUNS : RUNS

fc.configureGlobal({ seed, numRuns: propertyRuns })

/** Returns a tenth of the cases, at least one, in their order; at full depth all cases. For a large matrix, draw from each axis. */
export function draw<Case>(cases: readonly Case[]): Case[] {
  if (isFull) return [...cases]
  const random = createRandom(seed)
  let missing = Math.ceil(cases.length * DRAWN_PART)
  return cases.filter((_, at) => {
    const isDrawn = random() * (cases.length - at) < missing
    if (isDrawn) missing--
    return isDrawn
  })
}

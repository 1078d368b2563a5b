/**
 * How much of what could be tested a run tests. By default a tenth of each matrix of cases and 20 runs of each property; with
 * `TEST_DEPTH=full`, as in CI, all cases, 100 runs, and the embedded and the real stores. `TEST_SEED` decides what is drawn: the same in
 * every run, so that a change is not rejected for what it did not touch; `random` draws something else.
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

/** Of each property. */
export const propertyRuns = isFull ? FULL_RUNS : RUNS

fc.configureGlobal({ seed, numRuns: propertyRuns })

/** A tenth of the cases, at least one, in their order; all of them at full depth. Of a large matrix, draw from each axis. */
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

/** The largest bodies at every path that takes one: nothing of them is worked on for long at a time where other requests wait. */
import { expect, inject, test } from 'vitest'
import { tieToTests } from '../faults/servers.ts'
import { endAfterFile } from '../harness/left-processes.ts'
import { LARGEST_BODIES } from './event-loop/largest-bodies.ts'

/** Processor time of the event loop's thread, which does not depend on how busy the machine is. */
const LONGEST_MS = 50
const ROW = /^\| (door: .+) \| ([\d.]+) \| (\d+) /gm

/** Rows of the table: door, milliseconds, status. */
async function measure(only: string) {
  const command = ['bun', 'test/hostile/event-loop/measure.ts', '--only', only, '--times', '1']
  const bench = Bun.spawn(tieToTests(command), { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  endAfterFile(bench)
  return [...(await new Response(bench.stdout).text()).matchAll(ROW)]
}

test.skipIf(!inject('real'))('the largest bodies hold up nobody', { timeout: 300_000 }, async () => {
  const rows = await measure('door:')
  expect(rows.map(([, name]) => name)).toEqual(LARGEST_BODIES.map(({ name }) => name))
  expect(rows.filter(([, , , status]) => Number(status) >= 500)).toEqual([])
  const long = rows.filter(([, , ms]) => Number(ms) > LONGEST_MS)
  // A collection of garbage may have come in between.
  const again = await Promise.all(long.map(([, name = '']) => measure(name)))
  expect(again.flat().filter(([, , ms]) => Number(ms) > LONGEST_MS)).toEqual([])
})

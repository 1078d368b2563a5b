/** The largest bodies at every path that takes one: nothing of them is worked on for long at a time where other requests wait. */
import { expect, inject, test } from 'vitest'
import { DOORS } from '../../scripts/bench/event-loop/doors.ts'
import { tieToTests } from '../faults/servers.ts'
import { endAfterFile } from '../harness/left-processes.ts'

/** Processor time of the event loop's thread, which does not depend on how busy the machine is. */
const LONGEST_MS = 50
const ROW = /^\| (door: .+) \| ([\d.]+) \| (\d+) /gm

test.skipIf(!inject('real'))('the largest bodies hold up nobody', { timeout: 300_000 }, async () => {
  const command = ['bun', 'scripts/bench/event-loop.ts', '--only', 'door:', '--times', '1']
  const bench = Bun.spawn(tieToTests(command), { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  endAfterFile(bench)
  const rows = [...(await new Response(bench.stdout).text()).matchAll(ROW)]
  expect(rows.map(([, name]) => name)).toEqual(DOORS.map(({ name }) => name))
  const failed = rows.filter(([, , ms, status]) => Number(ms) > LONGEST_MS || Number(status) >= 500)
  expect(failed.map(([row]) => row)).toEqual([])
})

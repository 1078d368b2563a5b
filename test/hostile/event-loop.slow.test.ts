/** The largest bodies at every path that accepts one: none blocks the event loop for long while other requests wait. */
import { expect, inject, test } from 'vitest'
import { killWithTests } from '../faults/servers.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { LARGEST_BODIES } from './event-loop/largest-bodies.ts'

const ROW = /^\| (door: .+|reading .+) \| ([\d., ]+) \| (\d+) /gm

/** Each endpoint is measured for some seconds, or far longer on a busy machine. */
const timeout = 900_000

/**
 * Measures the processor time of the event loop's thread, which is independent of the machine's load. The result is the shortest of several
 * attempts.
 */
async function measure(only: string, times: number) {
  const command = ['bun', 'test/hostile/event-loop/measure.ts', '--only', only, '--times', `${times}`]
  const bench = Bun.spawn(killWithTests(command), { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  endAfterFile(bench)
  const lines = [...(await new Response(bench.stdout).text()).matchAll(ROW)]
  const [floor, ...rows] = lines.map(([, name = '', goes = '', status]) => {
    return { name, longestMs: Math.min(...goes.split(', ').map(Number)), status: Number(status) }
  })
  return { rows, long: rows.filter(({ longestMs }) => longestMs > (floor?.longestMs ?? 0)) }
}

test.skipIf(!inject('real'))(
  'the largest bodies delay other requests by less than reading one takes',
  { timeout },
  async () => {
    const { rows, long } = await measure('door:', 1)
    expect(rows.map(({ name }) => name)).toEqual(LARGEST_BODIES.map(({ name }) => name))
    expect(rows.filter(({ status }) => status >= 500)).toEqual([])
    // A garbage collection can have lengthened the measurement.
    for (const { name } of long) expect((await measure(name, 3)).long).toEqual([])
  },
)

import { afterEach, expect, test, vi } from 'vitest'
import { createLogDeduplicator } from '../../../src/telemetry/log-deduplicator.ts'

const LOG = new URL('../../../src/telemetry/log.ts', import.meta.url).pathname
const CODE = `
  const { createLog } = await import('${LOG}')
  const log = createLog('info')
  for (let i = 0; i < 5; i++) {
    log.info({}, 'a line')
    await log.flush()
  }
  process.stderr.write('goes on')
`

test('a closed pipe ends nothing', async () => {
  const child = Bun.spawn([process.execPath, '-e', CODE], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  await child.stdout.cancel()
  expect(await new Response(child.stderr).text()).toBe('goes on')
  expect(await child.exited).toBe(0)
})

test('logs a repeated warning once, with its count and its last fields, when the log ends', async () => {
  const code = `
    const { createLog } = await import('${LOG}')
    const log = createLog('info')
    for (let i = 0; i < 500; i++) log.warn({ id: 'r' + i, cause: 'E', waiting: i }, 'a')
    for (let i = 0; i < 3; i++) log.warn({ cause: 'F' + i }, 'a')
    for (let i = 0; i < 2; i++) log.info({}, 'b')
    await log.flush()
    await log.flush()
  `
  const child = Bun.spawn([process.execPath, '-e', code], { stdin: 'ignore', stdout: 'pipe' })
  const lines = (await new Response(child.stdout).text()).trimEnd().split('\n')
  expect(lines.map(line => ({ ...JSON.parse(line), level: 0, time: 0 }))).toEqual(
    [
      { id: 'r0', cause: 'E', waiting: 0, msg: 'a' },
      ...['F0', 'F1', 'F2'].map(cause => ({ cause, msg: 'a' })),
      { msg: 'b' },
      { msg: 'b' },
      { id: 'r499', cause: 'E', waiting: 499, repeats: 499, msg: 'a' },
    ].map(line => ({ level: 0, time: 0, ...line })),
  )
})

afterEach(() => vi.useRealTimers())

test('logs continued repetitions ever more rarely, and at once after a pause', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { write } = createLogDeduplicator()
  const repeatCounts: number[] = []
  const repeat = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      write('k', 'm', repeats => repeatCounts.push(repeats))
      vi.advanceTimersByTime(1_000)
    }
  }
  repeat(60 + 120 + 240)
  expect(repeatCounts).toEqual([0, 59, 120, 240])
  repeat(3 * 3_600)
  expect(repeatCounts.length).toBeLessThanOrEqual(4 + 4 + 3)
  vi.advanceTimersByTime(2 * 3_600_000)
  repeat(1)
  expect(repeatCounts.at(-1)).toBe(0)
})

test('bounds the number of kinds', () => {
  const { write } = createLogDeduplicator()
  let written = 0
  for (let i = 0; i < 5_000; i++) write(`kind ${i}`, 'message', () => written++)
  expect(written).toBe(1_001)
})

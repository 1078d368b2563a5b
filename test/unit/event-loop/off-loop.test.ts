import { expect, test } from 'vitest'
import { FairQueue } from '../../../src/event-loop/fair-queue.ts'
import { Job, OffLoop } from '../../../src/event-loop/off-loop.ts'

interface Asked {
  does: 'echo' | 'refuse' | 'fail' | 'hang' | 'priority' | 'thread'
}

const TEST_JOB = new Job<Asked & { text?: string }, string>(new URL('./echo-job.ts', import.meta.url), 'echo')

test('a job is done by another thread, which answers each with its own', async () => {
  const loop = new OffLoop()
  const texts = ['a', 'b', 'c']
  const echoed = await Promise.all(texts.map(text => loop.run(TEST_JOB, { does: 'echo', text })))
  expect(echoed).toEqual(texts.map(text => `${text} from a worker`))
  expect(loop.given.get('echo')).toBe(3)
})

test('what a job refuses is refused as if it had been done here, and a failure is told', async () => {
  const loop = new OffLoop()
  await expect(loop.run(TEST_JOB, { does: 'refuse' })).rejects.toMatchObject({
    name: 'ProxyError',
    status: 400,
    param: 'field',
    message: 'Not this.',
  })
  await expect(loop.run(TEST_JOB, { does: 'fail' })).rejects.toThrow('broken')
  expect(await loop.run(TEST_JOB, { does: 'echo', text: 'on' })).toBe('on from a worker')
})

test('it is idle once nothing waits, and what followed from a job is done', async () => {
  const loop = new OffLoop()
  await loop.idle()
  const told: string[] = []
  const chain = async () => {
    for (const text of ['first', 'second']) told.push(await loop.run(TEST_JOB, { does: 'echo', text }))
  }
  const refused = loop.run(TEST_JOB, { does: 'refuse' }).catch(() => told.push('refused'))
  void chain()
  await loop.idle()
  expect(told).toEqual(['refused', 'first from a worker', 'second from a worker'])
  await refused
})

test.runIf(process.platform === 'linux')('the worker stands behind the event loop', async () => {
  expect(Number(await new OffLoop().run(TEST_JOB, { does: 'priority' }))).toBeGreaterThan(0)
})

test('a job that does not end in time, and what waits behind two of them, is refused as busy, and the next is done', async () => {
  const loop = new OffLoop({ limitMs: 1_500 })
  await loop.run(TEST_JOB, { does: 'echo', text: 'warm' })
  const late = (['hang', 'hang', 'echo'] as const).map(does => loop.run(TEST_JOB, { does }).catch(String))
  expect(await late[0]).toBe('ProxyError: The proxy is busy; try again shortly.')
  expect(new Set(await Promise.all(late)).size).toBe(1)
  expect(await loop.run(TEST_JOB, { does: 'echo', text: 'on' })).toBe('on from a worker')
})

test('an idle worker ends, and the next job has another', async () => {
  const loop = new OffLoop({ idleMs: 20 })
  const [first, second] = await Promise.all([1, 2].map(() => loop.run(TEST_JOB, { does: 'thread' })))
  expect(second).toBe(first)
  while ((await loop.run(TEST_JOB, { does: 'thread' })) === first) await Bun.sleep(40)
  const [other] = await Promise.all([1, 2].map(() => loop.run(TEST_JOB, { does: 'thread' })))
  expect(other).not.toBe(first)
})

test('owners take turns', () => {
  const queue = new FairQueue<number>()
  for (const item of [1, 2, 3]) queue.add('much', item)
  queue.add('little', 4)
  queue.add('other', 5)
  expect(Array.from({ length: 6 }, () => queue.take())).toEqual([1, 4, 5, 2, 3, undefined])
})

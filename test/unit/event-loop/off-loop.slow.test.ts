import { getPriority } from 'node:os'
import { describe, expect, test } from 'vitest'
import { FairQueue } from '../../../src/event-loop/fair-queue.ts'
import { WorkerJob, WorkerPool } from '../../../src/event-loop/worker-pool.ts'

interface Asked {
  does: 'echo' | 'refuse' | 'fail' | 'hang' | 'exit' | 'priority' | 'thread'
}

const OWN = { owner: 1 }
const TEST_JOB = new WorkerJob<Asked & { text?: string }, string>(new URL('./echo-job.ts', import.meta.url), 'echo')

test('runs each job in another thread and returns its result', async () => {
  const loop = new WorkerPool()
  const texts = ['a', 'b', 'c']
  const echoed = await Promise.all(texts.map(text => loop.run(TEST_JOB, { does: 'echo', text }, OWN)))
  expect(echoed).toEqual(texts.map(text => `${text} from a worker`))
  expect(loop.jobCounts.get('echo')).toBe(3)
})

test('rejects what the job rejects, and reports a failure', async () => {
  const loop = new WorkerPool()
  await expect(loop.run(TEST_JOB, { does: 'refuse' }, OWN)).rejects.toMatchObject({
    name: 'ProxyError',
    status: 400,
    param: 'field',
    message: 'Not this.',
  })
  await expect(loop.run(TEST_JOB, { does: 'fail' }, OWN)).rejects.toThrow('broken')
  expect(await loop.run(TEST_JOB, { does: 'echo', text: 'on' }, OWN)).toBe('on from a worker')
})

test('rejects the job of a worker that exits, and runs the next one in another', async () => {
  const loop = new WorkerPool()
  await expect(loop.run(TEST_JOB, { does: 'exit' }, OWN)).rejects.toThrow('worker thread ended during its job')
  expect(await loop.run(TEST_JOB, { does: 'echo', text: 'on' }, OWN)).toBe('on from a worker')
})

test('is idle once nothing waits and the effects of the last job are done', async () => {
  const loop = new WorkerPool()
  await loop.whenIdle()
  const results: string[] = []
  const chain = async () => {
    for (const text of ['first', 'second']) results.push(await loop.run(TEST_JOB, { does: 'echo', text }, OWN))
  }
  const refused = loop.run(TEST_JOB, { does: 'refuse' }, OWN).catch(() => results.push('refused'))
  void chain()
  await loop.whenIdle()
  expect(results).toEqual(['refused', 'first from a worker', 'second from a worker'])
  await refused
})

test.runIf(process.platform === 'linux')(
  'the worker has a lower priority than the event loop, but not while it starts',
  async () => {
    const own = getPriority()
    expect(await new WorkerPool().run(TEST_JOB, { does: 'priority' }, OWN)).toBe(`${own}, then ${Math.max(own, 10)}`)
  },
)

test('rejects a job that exceeds its time, and jobs behind two of them, as busy; runs the next', async () => {
  const loop = new WorkerPool({ limitMs: 4_000 })
  await loop.run(TEST_JOB, { does: 'echo', text: 'warm' }, OWN)
  const late = (['hang', 'hang', 'echo'] as const).map(does => loop.run(TEST_JOB, { does }, OWN).catch(String))
  expect(await late[0]).toBe('ProxyError: The proxy is busy; try again shortly.')
  expect(new Set(await Promise.all(late)).size).toBe(1)
  expect(await loop.run(TEST_JOB, { does: 'echo', text: 'on' }, OWN)).toBe('on from a worker')
})

test('an idle worker ends, and the next job starts another', async () => {
  const loop = new WorkerPool({ idleMs: 20 })
  const [first, second] = await Promise.all([1, 2].map(() => loop.run(TEST_JOB, { does: 'thread' }, OWN)))
  expect(second).toBe(first)
  const isReplaced = async () => (await loop.run(TEST_JOB, { does: 'thread' }, OWN)) !== first
  for (let idleMs = 40; !(await isReplaced()); idleMs *= 2) await Bun.sleep(idleMs)
  const [other] = await Promise.all([1, 2].map(() => loop.run(TEST_JOB, { does: 'thread' }, OWN)))
  expect(other).not.toBe(first)
})

describe('an owner with a long job', () => {
  const hang = (loop: WorkerPool, owner: number) => loop.run(TEST_JOB, { does: 'hang' }, { owner }).catch(String)
  const echo = (loop: WorkerPool, owner: number) => loop.run(TEST_JOB, { does: 'echo', text: `${owner}` }, { owner })

  test('delays only its own jobs: others use a second worker', async () => {
    const loop = new WorkerPool({ limitMs: 5_000, extraWorkerAfterMs: 50 })
    await echo(loop, 1)
    const results: string[] = []
    const jobs = [hang(loop, 1), echo(loop, 1).catch(String), echo(loop, 2), echo(loop, 3)]
    await Promise.all(jobs.map(one => one.then(text => results.push(text))))
    expect(results.slice(0, 2)).toEqual(['2 from a worker', '3 from a worker'])
  })

  test('loses the job once there are two such owners and others wait', async () => {
    const loop = new WorkerPool({ limitMs: 4_000, extraWorkerAfterMs: 50, maxContendedMs: 500 })
    const [first, second] = [hang(loop, 1), hang(loop, 2)]
    expect(await echo(loop, 3)).toBe('3 from a worker')
    expect(await first).toMatch(/while other projects were waiting/)
    // No other project waits for the worker of the second one.
    expect(await second).toMatch(/is busy/)
  })
})

test('owners take turns', () => {
  const queue = new FairQueue<string, number>()
  for (const item of [1, 2, 3]) queue.add('much', item)
  queue.add('little', 4)
  queue.add('other', 5)
  const take = (mayHave: (owner: string) => boolean = () => true) => queue.dequeue(queue.nextOwner(mayHave) ?? '')
  expect(take(owner => owner !== 'much')).toBe(4)
  expect(Array.from({ length: 5 }, () => take())).toEqual([1, 5, 2, 3, undefined])
})

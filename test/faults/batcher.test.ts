import { expect, test } from 'vitest'
import { createBatcher } from '../../src/event-loop/batcher.ts'
import { waitUntil } from '../harness/wait-until.ts'

interface Call {
  items: readonly string[]
  answer(): void
}

/** Creates a batcher whose calls end when the test ends them. */
function openBatcher(timeLimitMs: number) {
  const calls: Call[] = []
  const late: string[] = []
  const add = createBatcher<string, string>({
    run: items => new Promise(resolve => calls.push({ items, answer: () => resolve(items.map(item => `${item}!`)) })),
    maxItems: 10,
    timeoutMs: timeLimitMs,
    createTimeoutError: () => new Error('too late'),
    onLateResult: item => late.push(item),
  })
  return { add, calls, late }
}

test('items that arrive while a call is in flight go into the next', async () => {
  const { add, calls } = openBatcher(1_000)
  const first = add('a')
  await Bun.sleep(1)
  const rest = [add('b'), add('c')]
  await Bun.sleep(1)
  expect(calls.map(call => call.items)).toEqual([['a']])
  calls[0]?.answer()
  expect(await first).toBe('a!')
  expect(calls.map(call => call.items)).toEqual([['a'], ['b', 'c']])
  calls[1]?.answer()
  expect(await Promise.all(rest)).toEqual(['b!', 'c!'])
})

test('a call that hangs fails its items and those that waited long behind it; the others get their own call', async () => {
  const { add, calls, late } = openBatcher(1_000)
  const outcomes: string[] = []
  const note = (item: string) =>
    add(item).then(
      result => outcomes.push(result),
      error => outcomes.push(`${item}: ${error.message}`),
    )
  note('hung')
  await Bun.sleep(10)
  note('behind')
  await Bun.sleep(700)
  note('fresh')
  await waitUntil('the time limit has passed', () => outcomes.length > 0)
  expect(outcomes).toEqual(['hung: too late', 'behind: too late'])
  expect(calls.map(call => call.items)).toEqual([['hung'], ['fresh']])
  calls[1]?.answer()
  calls[0]?.answer()
  await waitUntil('the last item has its result', () => outcomes.length === 3)
  expect(outcomes.at(-1)).toBe('fresh!')
  // The caller releases the reservation of a late result.
  expect(late).toEqual(['hung'])
})

test('time in which this process was busy does not make a response late', async () => {
  const { add, calls } = openBatcher(50)
  const result = add('a')
  await Bun.sleep(1)
  // The timer fires after the busy time, like the limit. The result follows shortly after.
  setTimeout(() => Bun.sleep(10).then(() => calls[0]?.answer()), 5)
  const busyUntilMs = performance.now() + 150
  while (performance.now() < busyUntilMs);
  expect(await result).toBe('a!')
})

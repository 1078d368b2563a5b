/** Provider calls that continue after their clients have disconnected: the limits on them, and which call is cancelled at a limit. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ClientDisconnected } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import { EventChunk } from '../../../../src/formats/sse/event-chunk.ts'
import { AbandonedCalls } from '../../../../src/pipeline/coalescing/abandoned-calls.ts'
import { SharedCalls } from '../../../../src/pipeline/coalescing/shared-call.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open(limits: ConstructorParameters<typeof AbandonedCalls>[0]) {
  const abandoned = new AbandonedCalls(limits)
  const givenUp: string[] = []
  return { givenUp, add: (name: string) => abandoned.add(() => givenUp.push(name)) }
}

test('beyond their maximum number the oldest is aborted, once', () => {
  const { givenUp, add } = open({ calls: 2, msPerCall: 1_000 })
  for (const name of ['a', 'b', 'c', 'd']) add(name)
  expect(givenUp).toEqual(['a', 'b'])
  vi.advanceTimersByTime(1_000)
  expect(givenUp).toEqual(['a', 'b', 'c', 'd'])
  vi.advanceTimersByTime(10_000)
  expect(givenUp).toHaveLength(4)
})

test('finished calls do not count, and are not aborted', () => {
  const { givenUp, add } = open({ calls: 1, bytes: 10, msPerCall: 1_000 })
  for (const name of ['a', 'b', 'c']) {
    const call = add(name)
    call.addBytes(10)
    call.end()
    call.addBytes(10)
    call.end()
  }
  vi.advanceTimersByTime(1_000)
  expect(givenUp).toEqual([])
})

test('beyond their maximum bytes the oldest are aborted until the others fit', () => {
  const { givenUp, add } = open({ bytes: 10 })
  const [a, b, c] = [add('a'), add('b'), add('c')]
  a.addBytes(1)
  b.addBytes(5)
  c.addBytes(4)
  expect(givenUp).toEqual([])
  c.addBytes(3)
  expect(givenUp).toEqual(['a', 'b'])
  c.addBytes(3)
  expect(givenUp).toEqual(['a', 'b'])
})

test('a call longer than the maximum is aborted by itself', () => {
  const { givenUp, add } = open({ bytesPerCall: 10 })
  add('a')
  const long = add('b')
  long.addBytes(10)
  expect(givenUp).toEqual([])
  long.addBytes(1)
  expect(givenUp).toEqual(['b'])
})

test('a shared call that is joined again does not count, and an aborted one ends for its client', () => {
  const calls = new SharedCalls(new StreamMemory(1_000), { calls: 1, bytes: 10 })
  const leave = (name: string) => {
    const joined = calls.join(name, false)
    if (!joined) throw new Error('The call was not joined')
    joined.call.canContinueUnsubscribed = () => true
    joined.subscriber.leave()
    return joined.call
  }
  const joined = leave('a')
  expect(calls.join('a', false)?.call).toBe(joined)
  const [oldest, newest] = [leave('b'), calls.startUnshared(false)]
  newest.call.canContinueUnsubscribed = () => true
  expect(oldest.signal.aborted).toBe(false)
  newest.subscriber.leave()
  expect([joined.signal.aborted, newest.call.signal.aborted]).toEqual([false, false])
  expect(oldest.signal.reason).toBeInstanceOf(ClientDisconnected)
  void newest.call.push(new EventChunk([new Uint8Array(11)]))
  expect(newest.call.signal.aborted).toBe(true)
})

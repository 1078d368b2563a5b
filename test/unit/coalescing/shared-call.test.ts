import { describe, expect, test } from 'vitest'
import { SharedCall, SharedCalls, startAlone } from '../../../src/coalescing/shared-call.ts'
import { ClientGone } from '../../../src/errors.ts'

describe('a shared call', () => {
  test('is aborted when the last subscriber has left, and accepts none after that', () => {
    const call = new SharedCall()
    const [one, other] = [call.subscribe(true), call.subscribe(false)]
    one?.leave()
    one?.leave()
    expect(call.signal.aborted).toBe(false)
    other?.leave()
    expect(call.signal.reason).toBeInstanceOf(ClientGone)
    expect(call.subscribe(true)).toBeNull()
  })

  test('settles once: a subscriber that leaves later aborts nothing', async () => {
    const call = new SharedCall()
    const subscriber = call.subscribe(false)
    call.settle({ kind: 'notShareable', failure: null })
    call.settle({ kind: 'notShareable', failure: new ClientGone() })
    expect(await call.settled).toEqual({ kind: 'notShareable', failure: null })
    expect(await call.started).toBe('settled')
    subscriber?.leave()
    expect(call.signal.aborted).toBe(false)
  })

  test('that has begun to stream says so, also after it has settled', async () => {
    const call = new SharedCall()
    call.startStream()
    call.settle({ kind: 'notShareable', failure: null })
    expect(await call.started).toBe('stream')
  })
})

describe('shared calls', () => {
  test('are joined by name until they settle', async () => {
    const calls = new SharedCalls()
    const first = calls.join('a', true)
    const second = calls.join('a', false)
    expect([first?.isFirst, second?.isFirst]).toEqual([true, false])
    expect(second?.call).toBe(first?.call as SharedCall)
    expect(calls.join('b', true)?.isFirst).toBe(true)
    first?.call.settle({ kind: 'notShareable', failure: null })
    await first?.call.settled
    expect(calls.join('a', true)?.isFirst).toBe(true)
  })

  test('are not found where they were started alone', () => {
    expect(startAlone(true).isFirst).toBe(true)
  })
})

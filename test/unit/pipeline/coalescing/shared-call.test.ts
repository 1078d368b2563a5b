import { describe, expect, test, vi } from 'vitest'
import { ClientDisconnected } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import { EventChunk } from '../../../../src/formats/sse/event-chunk.ts'
import { SharedCall, SharedCalls } from '../../../../src/pipeline/coalescing/shared-call.ts'

const MIB = 1024 * 1024
const openCall = () => new SharedCall(new StreamMemory(MIB))

describe('a shared call', () => {
  test('is aborted when the last subscriber has left, and then accepts none', () => {
    const call = openCall()
    const [one, other] = [call.subscribe(true), call.subscribe(false)]
    one?.leave()
    one?.leave()
    expect(call.signal.aborted).toBe(false)
    other?.leave()
    expect(call.signal.reason).toBeInstanceOf(ClientDisconnected)
    expect(call.subscribe(true)).toBeNull()
  })

  test('settles once: a subscriber that leaves later aborts nothing', async () => {
    const call = openCall()
    const subscriber = call.subscribe(false)
    call.settle({ kind: 'notShareable', failure: null })
    call.settle({ kind: 'notShareable', failure: new ClientDisconnected() })
    expect(await call.settled).toEqual({ kind: 'notShareable', failure: null })
    expect(await call.started).toBe('settled')
    subscriber?.leave()
    expect(call.signal.aborted).toBe(false)
  })

  test('that has started to stream reports it, also after it has settled', async () => {
    const call = openCall()
    call.startStream()
    call.settle({ kind: 'notShareable', failure: null })
    expect(await call.started).toBe('stream')
  })
})

describe('a call that continues without subscribers', () => {
  const readOn = () => {
    const call = openCall()
    call.canContinueUnsubscribed = () => true
    call.subscribe(false)?.leave()
    return call
  }

  test('is aborted after ten minutes, unless a request has joined it', () => {
    vi.useFakeTimers()
    try {
      const [left, joined] = [readOn(), readOn()]
      joined.subscribe(false)
      vi.advanceTimersByTime(9 * 60_000)
      expect(left.signal.aborted).toBe(false)
      vi.advanceTimersByTime(2 * 60_000)
      expect([left.signal.aborted, joined.signal.aborted]).toEqual([true, false])
    } finally {
      vi.useRealTimers()
    }
  })

  test('is aborted after 16 MiB of events', () => {
    const call = readOn()
    for (let pushed = 0; pushed < 16; pushed++) void call.push(new EventChunk([new Uint8Array(MIB)]))
    expect(call.signal.aborted).toBe(false)
    void call.push(new EventChunk([new Uint8Array(1)]))
    expect(call.signal.aborted).toBe(true)
    call.settle({ kind: 'notShareable', failure: null })
  })
})

describe('the whole response of a shared call', () => {
  test('is kept while a request waits for it', () => {
    const call = openCall()
    const waiting = call.subscribe(false)
    expect(call.discardFullResponse()).toBe(false)
    expect(call.subscribe(false)).not.toBeNull()
    waiting?.leave()
    expect(call.discardFullResponse()).toBe(false)
  })

  test('cannot be awaited once it is discarded; its events can be read', () => {
    const call = openCall()
    call.subscribe(true)
    expect(call.discardFullResponse()).toBe(true)
    expect(call.subscribe(false)).toBeNull()
    expect(call.subscribe(true)).not.toBeNull()
  })
})

describe('a subscriber that is disconnected', () => {
  test('has left, so the last one ends the call', async () => {
    const room = new StreamMemory(MIB)
    const call = new SharedCall(room)
    const subscriber = call.subscribe(true)
    let cuts = 0
    if (subscriber) subscriber.onDisconnected = () => cuts++
    void call.push(new EventChunk([new Uint8Array(MIB)]))
    await vi.waitFor(() => expect(call.signal.aborted).toBe(true), 5_000)
    expect(call.signal.reason).toBeInstanceOf(ClientDisconnected)
    expect([cuts, room.disconnects]).toEqual([1, 1])
    await expect(subscriber?.read()).rejects.toMatchObject({ code: 'read_too_slowly' })
  })
})

describe('shared calls', () => {
  test('are joined by name until they settle', async () => {
    const calls = new SharedCalls(new StreamMemory(MIB))
    const first = calls.join('a', true)
    const second = calls.join('a', false)
    expect([first?.isFirst, second?.isFirst]).toEqual([true, false])
    expect(second?.call).toBe(first?.call as SharedCall)
    expect(calls.join('b', true)?.isFirst).toBe(true)
    first?.call.settle({ kind: 'notShareable', failure: null })
    await first?.call.settled
    expect(calls.join('a', true)?.isFirst).toBe(true)
  })

  test('are not found if they were started unshared', () => {
    expect(new SharedCalls(new StreamMemory(MIB)).startUnshared(true).isFirst).toBe(true)
  })
})

import { describe, expect, test, vi } from 'vitest'
import { createSessionLock } from '../../../../src/postgres/embedded/session-lock.ts'
import { eventLoopTick } from '../../../harness/event-loop.ts'

describe('a lock', () => {
  test('is granted to one session at a time, in order', async () => {
    const turns = createSessionLock()
    const order: string[] = []
    const end = await turns.acquire({ limitMs: 100 })
    const others = ['a', 'b', 'c'].map(async name => {
      const endOther = await turns.acquire({ limitMs: 1_000 })
      order.push(name)
      await eventLoopTick()
      order.push(`${name} ended`)
      endOther()
    })
    expect(turns.longestWaitMs()).toBeGreaterThan(0)
    end()
    await Promise.all(others)
    expect(order).toEqual(['a', 'a ended', 'b', 'b ended', 'c', 'c ended'])
    expect(turns.longestWaitMs()).toBe(0)
  })

  test('waits as long as the present owner has held it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const turns = createSessionLock()
      const end = await turns.acquire({ limitMs: 60_000 })
      vi.advanceTimersByTime(100)
      const [second, third] = [turns.acquire({ limitMs: 60_000 }), turns.acquire({ limitMs: 60_000 })]
      vi.advanceTimersByTime(500)
      expect(turns.longestWaitMs()).toBe(500)
      end()
      const endSecond = await second
      expect(turns.longestWaitMs()).toBe(0)
      vi.advanceTimersByTime(200)
      expect(turns.longestWaitMs()).toBe(200)
      endSecond()
      ;(await third)()
    } finally {
      vi.useRealTimers()
    }
  })

  test('is granted to urgent requests first', async () => {
    const turns = createSessionLock()
    const order: string[] = []
    const end = await turns.acquire({ limitMs: 100 })
    const wishes = [
      ['a', false],
      ['b', false],
      ['c', true],
      ['d', true],
    ] as const
    const others = wishes.map(async ([name, isUrgent]) => {
      const endOther = await turns.acquire({ limitMs: 1_000, isUrgent })
      order.push(name)
      endOther()
    })
    end()
    await Promise.all(others)
    expect(order).toEqual(['c', 'd', 'a', 'b'])
  })

  test('waits no longer than the limit', async () => {
    const turns = createSessionLock()
    const end = await turns.acquire({ limitMs: 100 })
    await expect(turns.acquire({ limitMs: 10 })).rejects.toMatchObject({ code: '55P03' })
    expect(turns.longestWaitMs()).toBe(0)
    const patient = turns.acquire({ limitMs: Number.POSITIVE_INFINITY })
    end()
    ;(await patient)()
    ;(await turns.acquire({ limitMs: 0 }))()
  })

  test('is released once, however often that is called', async () => {
    const turns = createSessionLock()
    const end = await turns.acquire({ limitMs: 100 })
    const second = turns.acquire({ limitMs: 100 })
    end()
    end()
    const endSecond = await second
    await expect(turns.acquire({ limitMs: 10 })).rejects.toThrow('the embedded database is busy')
    endSecond()
  })
})

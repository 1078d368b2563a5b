import { describe, expect, test, vi } from 'vitest'
import { createTurns } from '../../../../src/postgres/embedded/embedded-turns.ts'

describe('turns', () => {
  test('come one at a time, first come, first served', async () => {
    const turns = createTurns()
    const order: string[] = []
    const end = await turns.take({ limitMs: 100 })
    const others = ['a', 'b', 'c'].map(async name => {
      const endOther = await turns.take({ limitMs: 1_000 })
      order.push(name)
      await Bun.sleep(1)
      order.push(`${name} ended`)
      endOther()
    })
    expect(turns.awaitedMs()).toBeGreaterThan(0)
    end()
    await Promise.all(others)
    expect(order).toEqual(['a', 'a ended', 'b', 'b ended', 'c', 'c ended'])
    expect(turns.awaitedMs()).toBe(0)
  })

  test('are awaited for as long as the present owner has had its own', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const turns = createTurns()
      const end = await turns.take({ limitMs: 60_000 })
      vi.advanceTimersByTime(100)
      const [second, third] = [turns.take({ limitMs: 60_000 }), turns.take({ limitMs: 60_000 })]
      vi.advanceTimersByTime(500)
      expect(turns.awaitedMs()).toBe(500)
      end()
      const endSecond = await second
      expect(turns.awaitedMs()).toBe(0)
      vi.advanceTimersByTime(200)
      expect(turns.awaitedMs()).toBe(200)
      endSecond()
      ;(await third)()
    } finally {
      vi.useRealTimers()
    }
  })

  test('come to the urgent before the others', async () => {
    const turns = createTurns()
    const order: string[] = []
    const end = await turns.take({ limitMs: 100 })
    const wishes = [
      ['a', false],
      ['b', false],
      ['c', true],
      ['d', true],
    ] as const
    const others = wishes.map(async ([name, isUrgent]) => {
      const endOther = await turns.take({ limitMs: 1_000, isUrgent })
      order.push(name)
      endOther()
    })
    end()
    await Promise.all(others)
    expect(order).toEqual(['c', 'd', 'a', 'b'])
  })

  test('are not waited for longer than the limit', async () => {
    const turns = createTurns()
    const end = await turns.take({ limitMs: 100 })
    await expect(turns.take({ limitMs: 10 })).rejects.toMatchObject({ code: '55P03' })
    expect(turns.awaitedMs()).toBe(0)
    const patient = turns.take({ limitMs: Number.POSITIVE_INFINITY })
    end()
    ;(await patient)()
    ;(await turns.take({ limitMs: 0 }))()
  })

  test('end once, however often that is said', async () => {
    const turns = createTurns()
    const end = await turns.take({ limitMs: 100 })
    const second = turns.take({ limitMs: 100 })
    end()
    end()
    const endSecond = await second
    await expect(turns.take({ limitMs: 10 })).rejects.toThrow('The embedded database is busy')
    endSecond()
  })
})

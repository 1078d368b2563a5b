import { describe, expect, test } from 'vitest'
import { createTurns } from '../../../../src/postgres/embedded/embedded-turns.ts'

describe('turns', () => {
  test('come one at a time, first come, first served', async () => {
    const turns = createTurns()
    const order: string[] = []
    const end = await turns.take(100)
    const others = ['a', 'b', 'c'].map(async name => {
      const endOther = await turns.take(1_000)
      order.push(name)
      await Bun.sleep(1)
      order.push(`${name} ended`)
      endOther()
    })
    expect(turns.isAwaited()).toBe(true)
    end()
    await Promise.all(others)
    expect(order).toEqual(['a', 'a ended', 'b', 'b ended', 'c', 'c ended'])
    expect(turns.isAwaited()).toBe(false)
  })

  test('are not waited for longer than the limit', async () => {
    const turns = createTurns()
    const end = await turns.take(100)
    await expect(turns.take(10)).rejects.toMatchObject({ code: '55P03' })
    expect(turns.isAwaited()).toBe(false)
    const patient = turns.take(Number.POSITIVE_INFINITY)
    end()
    ;(await patient)()
    ;(await turns.take(0))()
  })

  test('end once, however often that is said', async () => {
    const turns = createTurns()
    const end = await turns.take(100)
    const second = turns.take(100)
    end()
    end()
    const endSecond = await second
    await expect(turns.take(10)).rejects.toThrow('A psql session holds a transaction open')
    endSecond()
  })
})

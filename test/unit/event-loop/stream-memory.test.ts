import { expect, test, vi } from 'vitest'
import { type MemoryHolder, StreamMemory } from '../../../src/event-loop/stream-memory.ts'

const SIZE = 1_000

test('a full memory budget stays full until an eighth of it is free', () => {
  const room = new StreamMemory(SIZE)
  const [one, other] = [room.reserve({}), room.reserve({})]
  one.set(SIZE)
  expect([room.isFull, room.heldBytes, room.maxBytes]).toEqual([false, SIZE, SIZE])
  other.add(1)
  expect(room.isFull).toBe(true)
  one.set(SIZE - 125)
  expect(room.isFull).toBe(true)
  other.release()
  expect([room.isFull, room.heldBytes]).toEqual([false, SIZE - 125])
  one.release()
  one.add(5)
  expect(room.heldBytes).toBe(0)
})

test('first evicts what is dispensable, then what is useful, the largest first and no more than needed', () => {
  const room = new StreamMemory(SIZE)
  const freed: string[] = []
  const open = (name: string, bytes: number, how: 'freeConsumed' | 'freeReusable') => {
    const holder: MemoryHolder = {
      [how]() {
        if (!freed.includes(name)) freed.push(name)
        held.set(0)
      },
    }
    const held = room.reserve(holder)
    held.set(bytes)
  }
  open('small text', 100, 'freeReusable')
  open('large text', 400, 'freeReusable')
  open('read events', 50, 'freeConsumed')
  room.reserve({}).set(SIZE - 500)
  expect(freed).toEqual(['read events', 'large text'])
  expect([room.isFull, room.heldBytes]).toEqual([false, SIZE - 400])
})

test('then cuts off the readers that have read nothing for longest; waiting readers continue', async () => {
  const room = new StreamMemory(SIZE)
  const cut: string[] = []
  const resumed = vi.fn()
  const open = (name: string, unreadForMs: number) => {
    const sinceMs = performance.now() - unreadForMs
    const held = room.reserve({
      unreadSinceMs: () => sinceMs,
      disconnectSlowest() {
        cut.push(name)
        held.set(0)
      },
      resume: resumed,
    })
    held.set(400)
  }
  open('old', 20_000)
  open('oldest', 30_000)
  open('new', 0)
  expect(room.isFull).toBe(true)
  await vi.waitFor(() => expect(cut).toEqual(['oldest']), 5_000)
  expect(resumed).toHaveBeenCalled()
  expect(room.isFull).toBe(false)
})

test('does not cut off a reader that has just read, however full the budget is', async () => {
  const room = new StreamMemory(SIZE)
  const [spare, cutSlowest] = [vi.fn(), vi.fn()]
  const held = room.reserve({
    freeConsumed: spare,
    disconnectSlowest: cutSlowest,
    unreadSinceMs: () => performance.now(),
  })
  held.set(2 * SIZE)
  await vi.waitFor(() => expect(spare.mock.calls.length).toBeGreaterThan(3), 5_000)
  expect(cutSlowest).not.toHaveBeenCalled()
  held.release()
})

test('counts bytes that several holders share once, until the last of them has closed', () => {
  const memory = new StreamMemory(SIZE)
  const [one, other] = [memory.reserve({}), memory.reserve({})]
  const bytes = new Uint8Array(600)
  one.addShared(bytes)
  one.addShared(bytes)
  other.addShared(bytes)
  expect([memory.heldBytes, memory.isFull]).toEqual([600, false])
  one.release()
  one.release()
  expect(memory.heldBytes).toBe(600)
  other.release()
  other.addShared(bytes)
  expect(memory.heldBytes).toBe(0)
})

test('in a full budget one reader continues at a time, the next when it has closed, all when there is space', async () => {
  const memory = new StreamMemory(SIZE)
  const full = memory.reserve({})
  const [first, second, third, left] = [memory.reserve({}), memory.reserve({}), memory.reserve({}), memory.reserve({})]
  expect(first.waitForSpace()).toBeUndefined()
  full.set(SIZE + 1)
  const gone: string[] = []
  const note = (name: string, space: Promise<void> | undefined) => space?.then(() => gone.push(name))
  expect(first.waitForSpace()).toBeUndefined()
  expect(first.waitForSpace()).toBeUndefined()
  const leaving = note('left', left.waitForSpace())
  const waiting = [note('second', second.waitForSpace()), note('third', third.waitForSpace())]
  left.release()
  await leaving
  expect(gone.splice(0)).toEqual(['left'])
  first.release()
  await waiting[0]
  expect(gone).toEqual(['second'])
  full.set(0)
  await waiting[1]
  expect(gone).toEqual(['second', 'third'])
  for (const held of [second, third]) held.release()
})

test('a request that waits too long for space is rejected, and not admitted later', async () => {
  const memory = new StreamMemory(SIZE, 20)
  const [full, first, second, third] = [memory.reserve({}), memory.reserve({}), memory.reserve({}), memory.reserve({})]
  full.set(SIZE + 1)
  first.waitForSpace()
  await expect(second.waitForSpace()).rejects.toMatchObject({ status: 503, code: 'too_many_unread_streams' })
  first.release()
  expect(third.waitForSpace()).toBeUndefined()
  for (const held of [full, second, third]) held.release()
})

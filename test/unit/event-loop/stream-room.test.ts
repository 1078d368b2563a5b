import { expect, test, vi } from 'vitest'
import { type StreamHolder, StreamRoom } from '../../../src/event-loop/stream-room.ts'

const SIZE = 1_000

test('a room is full when more is held than fits, until an eighth of it is free', () => {
  const room = new StreamRoom(SIZE)
  const [one, other] = [room.open({}), room.open({})]
  one.set(SIZE)
  expect([room.isFull, room.heldBytes, room.mostBytes]).toEqual([false, SIZE, SIZE])
  other.add(1)
  expect(room.isFull).toBe(true)
  one.set(SIZE - 125)
  expect(room.isFull).toBe(true)
  other.close()
  expect([room.isFull, room.heldBytes]).toEqual([false, SIZE - 125])
  one.close()
  one.add(5)
  expect(room.heldBytes).toBe(0)
})

test('what can be spared goes first, then what would have been good to have, the largest first and no more than needed', () => {
  const room = new StreamRoom(SIZE)
  const freed: string[] = []
  const open = (name: string, bytes: number, how: 'spare' | 'drop') => {
    const holder: StreamHolder = {
      [how]() {
        if (!freed.includes(name)) freed.push(name)
        held.set(0)
      },
    }
    const held = room.open(holder)
    held.set(bytes)
  }
  open('small text', 100, 'drop')
  open('large text', 400, 'drop')
  open('read events', 50, 'spare')
  room.open({}).set(SIZE - 500)
  expect(freed).toEqual(['read events', 'large text'])
  expect([room.isFull, room.heldBytes]).toEqual([false, SIZE - 400])
})

test('then the readers that have taken nothing for longest are cut off, until there is room; what waits goes on', async () => {
  const room = new StreamRoom(SIZE)
  const cut: string[] = []
  const resumed = vi.fn()
  const open = (name: string, unreadForMs: number) => {
    const sinceMs = performance.now() - unreadForMs
    const held = room.open({
      unreadSinceMs: () => sinceMs,
      cutSlowest() {
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

test('a reader that has just taken something is not cut off, however full the room is', async () => {
  const room = new StreamRoom(SIZE)
  const [spare, cutSlowest] = [vi.fn(), vi.fn()]
  const held = room.open({ spare, cutSlowest, unreadSinceMs: () => performance.now() })
  held.set(2 * SIZE)
  await vi.waitFor(() => expect(spare.mock.calls.length).toBeGreaterThan(3), 5_000)
  expect(cutSlowest).not.toHaveBeenCalled()
  held.close()
})

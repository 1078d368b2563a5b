import { expect, test, vi } from 'vitest'
import { type StreamHolder, StreamMemory } from '../../../src/event-loop/stream-memory.ts'

const SIZE = 1_000

test('a room is full when more is held than fits, until an eighth of it is free', () => {
  const room = new StreamMemory(SIZE)
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
  const room = new StreamMemory(SIZE)
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
  const room = new StreamMemory(SIZE)
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
  const room = new StreamMemory(SIZE)
  const [spare, cutSlowest] = [vi.fn(), vi.fn()]
  const held = room.open({ spare, cutSlowest, unreadSinceMs: () => performance.now() })
  held.set(2 * SIZE)
  await vi.waitFor(() => expect(spare.mock.calls.length).toBeGreaterThan(3), 5_000)
  expect(cutSlowest).not.toHaveBeenCalled()
  held.close()
})

test('bytes that several holders share count once, until the last of them has closed', () => {
  const memory = new StreamMemory(SIZE)
  const [one, other] = [memory.open({}), memory.open({})]
  const bytes = new Uint8Array(600)
  one.share(bytes)
  one.share(bytes)
  other.share(bytes)
  expect([memory.heldBytes, memory.isFull]).toEqual([600, false])
  one.close()
  one.close()
  expect(memory.heldBytes).toBe(600)
  other.close()
  other.share(bytes)
  expect(memory.heldBytes).toBe(0)
})

test('in a full budget one reads on at a time, the next when it has closed, all when there is space', async () => {
  const memory = new StreamMemory(SIZE)
  const full = memory.open({})
  const [first, second, third, left] = [memory.open({}), memory.open({}), memory.open({}), memory.open({})]
  expect(first.space()).toBeUndefined()
  full.set(SIZE + 1)
  const gone: string[] = []
  const note = (name: string, space: Promise<void> | undefined) => space?.then(() => gone.push(name))
  expect(first.space()).toBeUndefined()
  expect(first.space()).toBeUndefined()
  const leaving = note('left', left.space())
  const waiting = [note('second', second.space()), note('third', third.space())]
  left.close()
  await leaving
  expect(gone.splice(0)).toEqual(['left'])
  first.close()
  await waiting[0]
  expect(gone).toEqual(['second'])
  full.set(0)
  await waiting[1]
  expect(gone).toEqual(['second', 'third'])
  for (const held of [second, third]) held.close()
})

test('whoever waits for space too long is told so, and is not let go on later', async () => {
  const memory = new StreamMemory(SIZE, 20)
  const [full, first, second, third] = [memory.open({}), memory.open({}), memory.open({}), memory.open({})]
  full.set(SIZE + 1)
  first.space()
  await expect(second.space()).rejects.toMatchObject({ status: 503, code: 'too_many_unread_streams' })
  first.close()
  expect(third.space()).toBeUndefined()
  for (const held of [full, second, third]) held.close()
})

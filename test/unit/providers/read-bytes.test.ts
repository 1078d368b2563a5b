import { expect, test } from 'vitest'
import { ResponseMemory } from '../../../src/event-loop/response-memory.ts'
import { StreamMemory } from '../../../src/event-loop/stream-memory.ts'
import { readAllBytes } from '../../../src/providers/read-bytes.ts'

const PIECE = new Uint8Array(65_536)
const MOST = 10_000_000

function bodyOf(pieces: number) {
  let read = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (read++ < pieces) controller.enqueue(PIECE)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, piecesRead: () => read }
}

test('counts a long body as it is read, to the byte, and a short one not', async () => {
  const memory = new StreamMemory(MOST)
  const [short, long] = [new ResponseMemory(memory), new ResponseMemory(memory)]
  await readAllBytes(bodyOf(4).body, 'openai', MOST, short)
  expect(memory.heldBytes).toBe(0)
  const bytes = await readAllBytes(bodyOf(10).body, 'openai', MOST, long)
  expect([bytes.length, memory.heldBytes]).toEqual([10 * PIECE.length, 10 * PIECE.length])
  long.release()
  expect(memory.heldBytes).toBe(0)
})

test('in a full budget, reads one long body on and leaves the others with their providers', async () => {
  const memory = new StreamMemory(8 * PIECE.length)
  const [first, second] = [new ResponseMemory(memory), new ResponseMemory(memory)]
  await readAllBytes(bodyOf(20).body, 'openai', MOST, first)
  expect(memory.isFull).toBe(true)
  const { body, piecesRead } = bodyOf(20)
  const reading = readAllBytes(body, 'openai', MOST, second)
  expect((await readAllBytes(bodyOf(2).body, 'openai', MOST, new ResponseMemory(memory))).length).toBe(2 * PIECE.length)
  // More ticks than reading the whole body takes.
  for (let tick = 0; tick < 100; tick++) await new Promise(setImmediate)
  expect(piecesRead()).toBe(5)
  first.release()
  expect((await reading).length).toBe(20 * PIECE.length)
  second.release()
  expect(memory.heldBytes).toBe(0)
})

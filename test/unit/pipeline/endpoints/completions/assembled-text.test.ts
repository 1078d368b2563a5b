import { expect, test } from 'vitest'
import { StreamMemory } from '../../../../../src/event-loop/stream-memory.ts'
import { createChatAssembler } from '../../../../../src/formats/chat/assemble-chat.ts'
import { SharedCall } from '../../../../../src/pipeline/coalescing/shared-call.ts'
import { AssembledText } from '../../../../../src/pipeline/endpoints/completions/assembled-text.ts'

const MIB = 1024 * 1024
const PIECE = JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(MIB) } }] })

function keep(mostBytes = 64 * MIB) {
  const room = new StreamMemory(mostBytes)
  const call = new SharedCall(room)
  const assembler = createChatAssembler()
  const stream = {
    assembler,
    get bufferedChars() {
      return assembler.meter.bufferedChars
    },
  }
  const text = new AssembledText(stream, call, room)
  function add(): void {
    assembler.push(PIECE)
    text.updateMemory()
  }
  return { room, call, assembler, text, add }
}

test('keeps a text until it is too long to store, and counts it meanwhile', () => {
  const { room, assembler, text, add } = keep()
  add()
  expect(room.heldBytes).toBe(MIB)
  add()
  expect(assembler.meter.isDiscarded).toBe(false)
  add()
  expect([assembler.meter.isDiscarded, room.heldBytes]).toEqual([true, 0])
  add()
  text.close()
  expect([room.heldBytes, assembler.meter.discardedChars > 3 * MIB]).toEqual([0, true])
})

test('keeps a text of any length while a request waits for the whole', () => {
  const { room, call, assembler, add } = keep()
  const waiting = call.subscribe(false)
  call.subscribe(true)
  for (let n = 0; n < 4; n++) add()
  expect([assembler.meter.isDiscarded, room.heldBytes]).toEqual([false, 4 * MIB])
  waiting?.leave()
  add()
  expect([assembler.meter.isDiscarded, room.heldBytes]).toEqual([true, 0])
})

test('frees memory if the memory budget is full', () => {
  const { room, assembler, add } = keep(MIB / 2)
  add()
  expect([assembler.meter.isDiscarded, room.isFull, room.heldBytes]).toEqual([true, false, 0])
})

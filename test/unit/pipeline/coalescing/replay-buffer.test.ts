import { expect, test } from 'vitest'
import { MESSAGE_KINDS, type OutgoingMessage } from '../../../../src/pipeline/coalescing/messages.ts'
import { ReplayBuffer } from '../../../../src/pipeline/coalescing/replay-buffer.ts'
import { hasSettled } from '../../../harness/event-loop.ts'
import { waitUntil } from '../../../harness/wait-until.ts'

function openReplayBuffer(isSent: (attempt: number) => boolean = () => true) {
  const sent: number[] = []
  let attempts = 0
  const replayBuffer = new ReplayBuffer(
    async ({ number = -1 }) => {
      if (!isSent(attempts++)) throw new Error('Redis is unreachable')
      sent.push(number)
      return true
    },
    () => {},
  )
  const event = (bytes = 1): OutgoingMessage => ({ kind: MESSAGE_KINDS.events, payload: new Uint8Array(bytes) })
  return { replayBuffer, sent, event }
}

test('sends messages in order, and retains each until it is acknowledged', async () => {
  const { replayBuffer, sent, event } = openReplayBuffer(attempt => attempt > 1)
  for (let i = 0; i < 3; i++) await replayBuffer.enqueue(event())
  await waitUntil('all are sent', () => sent.length === 3)
  expect(sent).toEqual([0, 1, 2])
  expect(replayBuffer.nextNumber).toBe(3)
})

test('sends unacknowledged messages again from the requested number', async () => {
  const { replayBuffer, sent, event } = openReplayBuffer()
  for (let i = 0; i < 4; i++) await replayBuffer.enqueue(event())
  await waitUntil('all are sent', () => sent.length === 4)
  replayBuffer.acknowledge(1)
  replayBuffer.resend(2)
  await waitUntil('they are sent again', () => sent.length === 6)
  // Acknowledged messages are deleted, and messages that were never sent cannot be resent.
  replayBuffer.resend(0)
  replayBuffer.resend(99)
  await waitUntil('the rest is sent again', () => sent.length === 9)
  expect(sent).toEqual([0, 1, 2, 3, 2, 3, 1, 2, 3])
})

test('accepts at most 128 KiB that is not acknowledged; the next acknowledgement replaces a lost one', async () => {
  const { replayBuffer, event } = openReplayBuffer()
  await replayBuffer.enqueue(event(100_000))
  const full = replayBuffer.enqueue(event(100_000))
  expect(await hasSettled(full)).toBe(false)
  replayBuffer.acknowledge(2)
  expect(await hasSettled(full)).toBe(true)
  const closed = replayBuffer.enqueue(event(150_000))
  expect(await hasSettled(closed)).toBe(false)
  replayBuffer.close()
  expect(await hasSettled(closed)).toBe(true)
})

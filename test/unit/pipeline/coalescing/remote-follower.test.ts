import { expect, test } from 'vitest'
import { createError } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import { MESSAGE_KINDS, type OutgoingMessage, STREAM_ENDS } from '../../../../src/pipeline/coalescing/messages.ts'
import { RemoteFollower } from '../../../../src/pipeline/coalescing/remote-follower.ts'
import { SharedCall } from '../../../../src/pipeline/coalescing/shared-call.ts'

const failure = createError('upstreamInterrupted')

test.each([
  ['an incomplete response', { failure: null }, STREAM_ENDS.delivered],
  ['a provider’s failure', { failure, canFallBack: true }, STREAM_ENDS.providerFailed],
  ['another failure', { failure, canFallBack: false }, STREAM_ENDS.failureDelivered],
])('tells the following process about %s', async (_, settlement, end) => {
  const call = new SharedCall(new StreamMemory(1024))
  const sent: OutgoingMessage[] = []
  const follower = new RemoteFollower(async message => {
    sent.push(message)
    if (message.kind === MESSAGE_KINDS.notShareable) follower.leave()
    return true
  })
  const served = follower.serve(call)
  call.settle({ kind: 'notShareable', ...settlement })
  await served
  expect(sent.at(-1)).toMatchObject({ kind: MESSAGE_KINDS.notShareable, payload: Uint8Array.of(end) })
})

import { expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import {
  decodeMessage,
  MESSAGE_KINDS,
  type Message,
  STREAM_ENDS,
} from '../../../../src/pipeline/coalescing/messages.ts'
import { RemoteLeader } from '../../../../src/pipeline/coalescing/remote-leader.ts'
import { SharedCall, type Subscriber } from '../../../../src/pipeline/coalescing/shared-call.ts'
import type { ProcessBus } from '../../../../src/stores/redis/process-bus.ts'
import { eventLoopTick, hasSettled } from '../../../harness/event-loop.ts'

/** Follows a call whose leader is played by the test. Records the messages that the follower sends. */
function followCall() {
  const sent: Pick<Message, 'kind' | 'number'>[] = []
  const released: string[] = []
  const bus = {
    processId: 'here',
    async send(_processId: string, bytes: Uint8Array) {
      const message = decodeMessage(bytes)
      if (message) sent.push({ kind: message.kind, number: message.number })
      return true
    },
    async releaseLease(name: string) {
      released.push(name)
    },
  } as unknown as ProcessBus
  const call = new SharedCall(new StreamMemory(1024 * 1024))
  const subscriber = call.subscribe(true) as Subscriber
  const followed = {
    followerId: crypto.randomUUID(),
    name: 'n',
    lease: { processId: 'there', callId: 'c' },
    call,
  }
  const leader = new RemoteLeader(bus, followed)
  const say = (kind: Message['kind'], number = 0, payload: Uint8Array = new Uint8Array(0)) =>
    leader.receive({ kind, followerId: followed.followerId, number, payload })
  return {
    call,
    subscriber,
    leader,
    sent,
    released,
    say,
    sayEvent: (number: number) => say(MESSAGE_KINDS.events, number, new TextEncoder().encode(eventOf(number))),
    sayEnd: (number: number, end: number) => say(MESSAGE_KINDS.notShareable, number, Uint8Array.of(end)),
  }
}

const eventOf = (number: number) => `data: ${number}\n\n`
const eventsOf = (...numbers: number[]) => numbers.map(eventOf).join('')

/** Reads all available events. `broke` is true if the stream failed after them. */
async function readAll(subscriber: Subscriber): Promise<{ text: string; broke: boolean }> {
  let text = ''
  try {
    for (;;) {
      const lump = await subscriber.read()
      if (!lump) return { text, broke: false }
      text += new TextDecoder().decode(lump.bytes)
    }
  } catch (error) {
    expect(error).toBeInstanceOf(ProxyError)
    return { text, broke: true }
  }
}

test('events in order form the stream', async () => {
  const { subscriber, say, sayEvent, sayEnd } = followCall()
  say(MESSAGE_KINDS.streamStarted)
  for (const number of [1, 2, 3]) sayEvent(number)
  sayEnd(4, STREAM_ENDS.delivered)
  expect(await readAll(subscriber)).toEqual({ text: eventsOf(1, 2, 3), broke: false })
})

test.each([
  { title: 'one lost', numbers: [1, 3, 4], asks: [2] },
  { title: 'the first lost', numbers: [2, 3], asks: [1] },
  { title: 'one twice', numbers: [1, 1, 2], asks: [] },
])('after a gap in the events ($title), requests the missing ones from the leader once', async ({ numbers, asks }) => {
  const { subscriber, sent, say, sayEvent, sayEnd } = followCall()
  say(MESSAGE_KINDS.streamStarted)
  for (const number of numbers) sayEvent(number)
  expect(sent.filter(({ kind }) => kind === MESSAGE_KINDS.resend).map(({ number }) => number)).toEqual(asks)
  // The leader sends the rest again. No event is read twice.
  for (const number of [1, 2, 3, 4]) sayEvent(number)
  sayEnd(5, STREAM_ENDS.delivered)
  expect(await readAll(subscriber)).toEqual({ text: eventsOf(1, 2, 3, 4), broke: false })
})

test('notices a lost last message at the next heartbeat, and requests it at each', async () => {
  const { subscriber, sent, say, sayEvent, sayEnd } = followCall()
  say(MESSAGE_KINDS.streamStarted)
  sayEvent(1)
  for (let beat = 0; beat < 2; beat++) say(MESSAGE_KINDS.heartbeat, 3)
  expect(sent.filter(({ kind }) => kind === MESSAGE_KINDS.resend)).toEqual(
    [2, 2].map(number => ({ kind: MESSAGE_KINDS.resend, number })),
  )
  sayEnd(2, STREAM_ENDS.delivered)
  expect(await readAll(subscriber)).toEqual({ text: eventOf(1), broke: false })
})

test('an end that arrives before missing events ends nothing', async () => {
  const { call, subscriber, say, sayEvent, sayEnd } = followCall()
  say(MESSAGE_KINDS.streamStarted)
  sayEnd(2, STREAM_ENDS.delivered)
  expect(await hasSettled(call.settled)).toBe(false)
  sayEvent(1)
  sayEnd(2, STREAM_ENDS.delivered)
  expect(await readAll(subscriber)).toEqual({ text: eventOf(1), broke: false })
})

test.each([
  ['a provider’s failure, after which a fallback may help', STREAM_ENDS.providerFailed, true],
  ['another failure', STREAM_ENDS.failureDelivered, false],
])('reports %s', async (_, end, isProviders) => {
  const { call, sayEnd } = followCall()
  sayEnd(0, end)
  expect(await call.settled).toMatchObject({ kind: 'notShareable', failure: { status: 502 }, canFallBack: isProviders })
})

test('acknowledges what the followers here have read, again at each heartbeat', async () => {
  const { sent, say, sayEvent } = followCall()
  say(MESSAGE_KINDS.streamStarted)
  sayEvent(1)
  await eventLoopTick()
  say(MESSAGE_KINDS.heartbeat, 2)
  const taken = sent.filter(({ kind }) => kind === MESSAGE_KINDS.acknowledge)
  expect(taken.map(({ number }) => number)).toEqual([2, 2])
})

test('judges a leader dead by heartbeats that could have been read: echoes count, time does not', async () => {
  const { call, leader, released, say } = followCall()
  for (let round = 0; round < 3; round++) {
    for (let echo = 0; echo < 5; echo++) leader.recordEcho()
    say(MESSAGE_KINDS.heartbeat)
  }
  expect(released).toEqual([])
  for (let echo = 0; echo < 6; echo++) leader.recordEcho()
  expect(released).toEqual(['n'])
  expect(await call.settled).toEqual({ kind: 'notShareable', failure: null })
})

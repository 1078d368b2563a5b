import { expect, test } from 'vitest'
import { ENDS, KINDS, type Message } from '../../../src/coalescing/messages.ts'
import { RemoteLeader } from '../../../src/coalescing/remote-leader.ts'
import { SharedCall, type Subscriber } from '../../../src/coalescing/shared-call.ts'
import { ProxyError } from '../../../src/errors.ts'
import type { ProcessBus } from '../../../src/redis/process-bus.ts'

/** One that carries nothing anywhere: the test plays the leader. */
const SILENT_BUS = {
  processId: 'here',
  send: async () => true,
  releaseLease: async () => {},
  isListening: () => true,
} as unknown as ProcessBus

function followCall() {
  const call = new SharedCall()
  const subscriber = call.subscribe(true) as Subscriber
  const leader = new RemoteLeader(SILENT_BUS, {
    followerId: 'f',
    name: 'n',
    lease: { processId: 'there', callId: 'c' },
    call,
  })
  const say = (kind: Message['kind'], number = 0, text = '') =>
    leader.receive({ kind, followerId: 'f', number, payload: new TextEncoder().encode(text) })
  return { call, subscriber, leader, say, sayEvent: (number: number) => say(KINDS.events, number, eventOf(number)) }
}

const eventOf = (number: number) => `data: ${number}\n\n`

/** All events that can be read, and whether the stream broke off after them. */
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

test('events in their order are the stream', async () => {
  const { subscriber, say, sayEvent } = followCall()
  say(KINDS.streamStarted)
  for (const number of [0, 1, 2]) sayEvent(number)
  say(KINDS.notShareable, ENDS.delivered)
  expect(await readAll(subscriber)).toEqual({ text: [0, 1, 2].map(eventOf).join(''), broke: false })
})

test.each([
  { title: 'one lost', numbers: [0, 2, 3] },
  { title: 'the first lost', numbers: [1, 2] },
  { title: 'one twice', numbers: [0, 0, 1] },
])('after a gap in the events ($title) nobody reads on as if nothing were missing', async ({ numbers }) => {
  const { call, subscriber, leader, say, sayEvent } = followCall()
  say(KINDS.streamStarted)
  for (const number of numbers) sayEvent(number)
  // What the leader says of the end does not heal it.
  say(KINDS.notShareable, ENDS.delivered)
  expect(await readAll(subscriber)).toEqual({ text: numbers[0] === 0 ? eventOf(0) : '', broke: true })
  expect(await call.settled).toEqual({ kind: 'notShareable', failure: null })
  leader.leave()
})

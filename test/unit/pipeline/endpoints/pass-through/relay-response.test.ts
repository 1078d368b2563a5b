/** An event stream whose client disconnects while the next event is awaited. */
import { expect, test } from 'vitest'
import { ClientDisconnected } from '../../../../../src/errors/errors.ts'
import type { RequestRecorder } from '../../../../../src/pipeline/accounting/request-recorder.ts'
import { AbandonedCalls } from '../../../../../src/pipeline/coalescing/abandoned-calls.ts'
import { relayResponse } from '../../../../../src/pipeline/endpoints/pass-through/relay-response.ts'

function relay({ hasBudgets = true } = {}) {
  const awaited = Promise.withResolvers<void>()
  const cancelled = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const ends: unknown[] = []
  let upstream: ReadableStreamDefaultController<Uint8Array> | undefined
  const upstreamBody = new ReadableStream<Uint8Array>(
    {
      start(given) {
        upstream = given
      },
      pull: () => awaited.resolve(),
      cancel: () => cancelled.resolve(),
    },
    { highWaterMark: 0 },
  )
  function end(how: unknown) {
    ends.push(how)
    ended.resolve()
  }
  const abandoned = new AbandonedCalls({ calls: 1 })
  const body = relayResponse(
    { spending: { hasBudgets }, isWorthReadingToEnd: true, finishFailed: end } as unknown as RequestRecorder,
    { body: upstreamBody } as Parameters<typeof relayResponse>[1],
    {
      abandonedCalls: abandoned,
      isEventStream: true,
      onComplete: event => end(event && Buffer.from(event).toString()),
    },
  )
  return {
    abandoned,
    ends,
    ended: ended.promise,
    cancelled: cancelled.promise,
    async leave() {
      const reader = body.getReader()
      const reading = reader.read()
      await awaited.promise
      await reader.cancel()
      await reading
    },
    finish() {
      for (const event of ['data: {}\n\n', 'data: {"usage": 1}\n\n']) upstream?.enqueue(Buffer.from(event))
      upstream?.close()
    },
  }
}

test('is read to its end, and its last event reports the usage', async () => {
  const { leave, finish, ends, ended } = relay()
  await leave()
  finish()
  await ended
  expect(ends).toEqual([expect.stringContaining('"usage": 1')])
})

test('ends at once without a budget', async () => {
  const { leave, ends, cancelled } = relay({ hasBudgets: false })
  await leave()
  await cancelled
  expect(ends).toEqual([expect.any(ClientDisconnected)])
})

test('is aborted, and its connection closed, when another response is read on in its place', async () => {
  const { leave, abandoned, ends, cancelled } = relay()
  await leave()
  abandoned.add(() => {})
  await cancelled
  expect(ends[0]).toBeInstanceOf(ClientDisconnected)
})

test('no longer counts once it has ended', async () => {
  const { leave, finish, abandoned, ends, ended } = relay()
  await leave()
  finish()
  await ended
  abandoned.add(() => {})
  expect(ends).toHaveLength(1)
})

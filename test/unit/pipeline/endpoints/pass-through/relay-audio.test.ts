/** Audio that is read for all requests that wait for it, while its own client reads at its own speed. */
import { describe, expect, test } from 'vitest'
import { StreamMemory } from '../../../../../src/event-loop/stream-memory.ts'
import { MAX_CACHED_AUDIO_BYTES } from '../../../../../src/pipeline/endpoints/pass-through/cached-response.ts'
import { relayCacheableAudio } from '../../../../../src/pipeline/endpoints/pass-through/relay-audio.ts'
import { eventLoopTick } from '../../../../harness/event-loop.ts'

/** Relays an upstream body that delivers these parts as they are read, and records the callbacks. */
function relay(parts: Uint8Array[], ending: 'end' | 'break' = 'end') {
  let at = 0
  const told: string[] = []
  const ended = Promise.withResolvers<Uint8Array | null | Error>()
  const leaving = new AbortController()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts[at++]
        if (part) controller.enqueue(part)
        else if (ending === 'end') controller.close()
        else controller.error(new Error('broke off'))
      },
      cancel: () => void told.push('cancelled'),
    },
    { highWaterMark: 0 },
  )
  const answer = { status: 200, headers: new Headers(), body, isStorable: () => true }
  const memory = new StreamMemory(100_000_000)
  const client = relayCacheableAudio(answer, {
    memory: memory.reserve({}),
    signal: leaving.signal,
    onDisconnected: () => told.push('left'),
    onTooLong: () => told.push('too long'),
    onComplete: async sound => ended.resolve(sound),
    onFailure: error => ended.resolve(error as Error),
  })
  return { client, memory, told, leave: () => leaving.abort(), ended: ended.promise, readParts: () => at }
}

const parts = (count: number, bytes = 1_000) =>
  Array.from({ length: count }, (_, i) => new Uint8Array(bytes).fill(i % 251))
const whole = (given: Uint8Array[]) => new Uint8Array(Buffer.concat(given))

describe('audio that may be stored', () => {
  test('reaches the client whole', async () => {
    const { client, memory, ended, told } = relay(parts(5))
    expect(await new Response(client).bytes()).toEqual(whole(parts(5)))
    // The cache and the client each hold the whole audio.
    expect(memory.heldBytes).toBe(10_000)
    expect(await ended).toEqual(whole(parts(5)))
    expect(told).toEqual([])
  })

  test('is read to its end although the client has disconnected', async () => {
    const { client, ended } = relay(parts(50))
    expect(await ended).toEqual(whole(parts(50)))
    expect(await new Response(client).bytes()).toEqual(whole(parts(50)))
  })

  test.each(['leaves', 'cancels'] as const)('is read to its end although its client %s', async how => {
    const { client, ended, leave, told } = relay(parts(50))
    if (how === 'leaves') leave()
    else await client.cancel()
    expect(await ended).toEqual(whole(parts(50)))
    expect(told).toEqual(['left'])
  })

  test('that breaks off ends with an error for its client and for all followers', async () => {
    const { client, ended } = relay(parts(2), 'break')
    await expect(new Response(client).bytes()).rejects.toThrow('broke off')
    expect(await ended).toMatchObject({ message: 'broke off' })
  })
})

describe('audio that is too long to store', () => {
  const long = () => parts(9, MAX_CACHED_AUDIO_BYTES / 4)

  test('is forwarded whole', async () => {
    const { client, memory, ended, told } = relay(long())
    expect((await new Response(client).bytes()).length).toBe((MAX_CACHED_AUDIO_BYTES / 4) * 9)
    expect(await ended).toBeNull()
    expect(memory.heldBytes).toBe(0)
    expect(told).toEqual(['too long'])
  })

  test('is read no further than its client reads it', async () => {
    const { client, ended, told, readParts } = relay(long())
    for (let n = 0; n < 20; n++) await eventLoopTick()
    expect(readParts()).toBe(5)
    await client.cancel()
    expect(await ended).toMatchObject({ name: 'ClientDisconnected' })
    expect(told).toEqual(['too long', 'left', 'cancelled'])
  })
})

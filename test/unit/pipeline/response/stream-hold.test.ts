import { beforeEach, describe, expect, test } from 'vitest'
import { ClientDisconnected } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import { EventChunk } from '../../../../src/formats/sse/event-chunk.ts'
import { SharedCall } from '../../../../src/pipeline/coalescing/shared-call.ts'
import { StreamHold } from '../../../../src/pipeline/response/stream-hold.ts'
import { brokenResponseError } from '../../../../src/providers/upstream-failure.ts'
import { eventLoopTick } from '../../../harness/event-loop.ts'

const MAX_BYTES = 1_000
const FAILURE = brokenResponseError('p', 'broke off')

let memory: StreamMemory
let call: SharedCall
let client: AbortController
beforeEach(() => {
  memory = new StreamMemory(10_000)
  call = new SharedCall(memory)
  client = new AbortController()
})

function createHold(): StreamHold {
  const subscriber = call.subscribe(true)
  if (!subscriber) throw new Error('the call rejected its subscriber')
  return new StreamHold(subscriber, memory, MAX_BYTES)
}

const chunkOf = (text: string) => new EventChunk([new TextEncoder().encode(`data: ${text}\n\n`)])
const settle = (failure: typeof FAILURE | null, isThrown = false) =>
  call.settle({ kind: 'notShareable', failure }, isThrown && failure ? failure : undefined)

async function readAll(hold: StreamHold): Promise<string> {
  let text = ''
  for (let chunk = await hold.read(); chunk; chunk = await hold.read()) text += new TextDecoder().decode(chunk.bytes)
  return text
}

describe('a held stream', () => {
  test('is delivered once it is complete', async () => {
    const hold = createHold()
    const filling = hold.fill(call, client.signal)
    void call.push(chunkOf('a'))
    void call.push(chunkOf('b'))
    settle(null)
    expect(await filling).toBeNull()
    expect(hold.isHolding).toBe(false)
    expect(await readAll(hold)).toBe('data: a\n\ndata: b\n\n')
    hold.leave()
    expect(memory.heldBytes).toBe(0)
  })

  test.each([
    ['that breaks off', true],
    ['that reports a failure in an event', false],
  ])('%s is not delivered', async (_, isThrown) => {
    const hold = createHold()
    const filling = hold.fill(call, client.signal)
    void call.push(chunkOf('a'))
    settle(FAILURE, isThrown)
    expect(await filling).toBe(FAILURE)
    expect([hold.isHolding, memory.heldBytes]).toEqual([true, 0])
  })

  test('waits for the result of its call', async () => {
    const hold = createHold()
    const settled = Promise.withResolvers<Awaited<SharedCall['settled']>>()
    const filling = hold.fill({ settled: settled.promise, signal: call.signal } as SharedCall, client.signal)
    settle(null)
    settled.resolve({ kind: 'notShareable', failure: FAILURE })
    expect(await filling).toBe(FAILURE)
  })

  test('that is too large is delivered live', async () => {
    const hold = createHold()
    const filling = hold.fill(call, client.signal)
    void call.push(chunkOf('x'.repeat(MAX_BYTES)))
    expect(await filling).toBeNull()
    expect(hold.isHolding).toBe(false)
    void call.push(chunkOf('later'))
    settle(FAILURE, true)
    expect(new TextDecoder().decode((await hold.read())?.bytes)).toContain('xxx')
    expect(new TextDecoder().decode((await hold.read())?.bytes)).toContain('later')
    await expect(hold.read()).rejects.toBe(FAILURE)
  })

  test('is delivered live when the memory is full', async () => {
    const hold = createHold()
    const other = memory.reserve({})
    const filling = hold.fill(call, client.signal)
    void call.push(chunkOf('a'))
    other.add(20_000)
    void call.push(chunkOf('b'))
    expect(await filling).toBeNull()
    settle(null)
    expect(await readAll(hold)).toContain('data: a')
    hold.leave()
    other.release()
    expect(memory.heldBytes).toBe(0)
  })

  test('is counted in the memory until it is read', async () => {
    const chunks = [chunkOf('a'), chunkOf('b')]
    const unread = [...chunks]
    const read = async () => unread.shift() ?? null
    const hold = new StreamHold({ read, leave() {}, onDisconnected() {} }, memory, MAX_BYTES)
    settle(null)
    await hold.fill(call, client.signal)
    const [first = 0, second = 0] = chunks.map(({ heldBytes }) => heldBytes)
    expect(memory.heldBytes).toBe(first + second)
    await hold.read()
    expect(memory.heldBytes).toBe(second)
  })

  test('is freed when its client disconnects', async () => {
    const hold = createHold()
    const filling = hold.fill(call, client.signal)
    void call.push(chunkOf('a'))
    client.abort()
    void call.push(chunkOf('b'))
    settle(FAILURE, true)
    expect(await filling).toBeInstanceOf(ClientDisconnected)
    expect(memory.heldBytes).toBe(0)
    expect(call.hasNoSubscribers()).toBe(true)
  })

  test('is taken from a client that does not read it', async () => {
    const hold = createHold()
    let isDisconnected = false
    hold.onDisconnected = () => {
      isDisconnected = true
    }
    const filling = hold.fill(call, client.signal)
    void call.push(chunkOf('a'))
    void call.push(chunkOf('b'))
    await eventLoopTick()
    expect(hold.unreadSinceMs()).toBe(Number.POSITIVE_INFINITY)
    settle(null)
    await filling
    expect(hold.unreadSinceMs()).toBeLessThanOrEqual(performance.now())
    hold.disconnectSlowest()
    expect([isDisconnected, memory.heldBytes, memory.disconnects]).toEqual([true, 0, 1])
    await expect(hold.read()).rejects.toMatchObject({ status: 503 })
  })
})

import { describe, expect, test, vi } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import { EventChunk } from '../../../../src/formats/sse/event-chunk.ts'
import { EventBuffer } from '../../../../src/pipeline/coalescing/event-buffer.ts'
import { hasSettled } from '../../../harness/event-loop.ts'

const KIB = 1024
const MIB = 1024 * KIB
const PIECE = 16 * KIB
/** Longer than the time for which a reader that has just read is exempt from disconnection. */
const CUT_WITHIN_MS = 5_000
const lump = new EventChunk([new Uint8Array(PIECE)])

const spacious = () => new StreamMemory(1024 * MIB)

/** A memory budget that another holder has filled except for `freeBytes`. */
function fullRoom(freeBytes = 0): { room: StreamMemory; empty(): void } {
  const room = new StreamMemory(64 * MIB)
  const other = room.reserve({})
  other.set(64 * MIB + 1)
  if (freeBytes > 0) other.set(64 * MIB - freeBytes)
  return { room, empty: () => other.release() }
}

/** Returns the number of chunks that the buffer accepts before a push has to wait. */
async function pushUntilFull(buffer: EventBuffer): Promise<number> {
  for (let taken = 1; ; taken++) if (!(await hasSettled(buffer.push(lump)))) return taken
}

describe('an event buffer', () => {
  test('reads at most 64 KiB more than its fastest reader', async () => {
    const buffer = new EventBuffer(spacious())
    const [fast, slow] = [buffer.openReader(), buffer.openReader()]
    expect((await pushUntilFull(buffer)) * PIECE).toBe(64 * KIB)
    for (let read = 0; read < 3; read++) await fast.read()
    expect((await pushUntilFull(buffer)) * PIECE).toBe(3 * PIECE)
    await slow.read()
    expect((await pushUntilFull(buffer)) * PIECE).toBe(PIECE)
  })

  test('does not wait without readers, and continues when the last reader closes', async () => {
    const buffer = new EventBuffer(spacious())
    for (let pushed = 0; pushed < 32; pushed++) await buffer.push(lump)
    const read = new EventBuffer(spacious())
    const reader = read.openReader()
    for (let pushed = 1; pushed < 4; pushed++) await read.push(lump)
    const waiting = read.push(lump)
    reader.close()
    await waiting
  })

  test('can be replayed to new readers until it is longer than 16 MiB', async () => {
    const buffer = new EventBuffer(spacious())
    const long = new EventChunk([new Uint8Array(MIB)])
    for (let pushed = 0; pushed < 16; pushed++) await buffer.push(long)
    expect(buffer.isReplayable).toBe(true)
    await buffer.push(long)
    expect(buffer.isReplayable).toBe(false)
  })

  test('ends for each reader after all its events, or with the error that ended it', async () => {
    const whole = new EventBuffer(spacious())
    const reader = whole.openReader()
    void whole.push(lump)
    whole.end()
    expect([await reader.read(), await reader.read()]).toEqual([lump, null])
    const broken = new EventBuffer(spacious())
    const cut = broken.openReader()
    void broken.push(lump)
    broken.end(new ProxyError({ status: 502, code: 'upstream_error', message: 'cut' }))
    expect(await cut.read()).toBe(lump)
    await expect(cut.read()).rejects.toThrow('cut')
  })
})

describe('memory of an event buffer', () => {
  test('is what it can still send to a reader, old or new', async () => {
    const room = spacious()
    const buffer = new EventBuffer(room)
    const [one, other] = [buffer.openReader(), buffer.openReader()]
    for (let pushed = 0; pushed < 3; pushed++) await buffer.push(lump)
    expect(room.heldBytes).toBe(3 * lump.heldBytes)
    for (let read = 0; read < 3; read++) await one.read()
    expect(room.heldBytes).toBe(3 * lump.heldBytes)
    buffer.freeConsumed()
    expect(room.heldBytes).toBe(3 * lump.heldBytes)
    await other.read()
    buffer.freeConsumed()
    expect(room.heldBytes).toBe(2 * lump.heldBytes)
    expect(buffer.isReplayable).toBe(false)
    expect([await other.read(), await other.read()]).toEqual([lump, lump])
  })

  test('is released at the end, when the last reader has left; at once if no event arrived', async () => {
    const room = spacious()
    const buffer = new EventBuffer(room)
    const reader = buffer.openReader()
    await buffer.push(lump)
    buffer.end()
    expect(room.heldBytes).toBe(lump.heldBytes)
    reader.close()
    expect(room.heldBytes).toBe(0)
    const silent = new EventBuffer(room)
    silent.openReader()
    silent.end()
    expect(room.heldBytes).toBe(0)
  })

  test('includes what the runtime has read of a waiting upstream', async () => {
    const room = spacious()
    const buffer = new EventBuffer(room)
    const reader = buffer.openReader()
    const taken = await pushUntilFull(buffer)
    expect(room.heldBytes - taken * lump.heldBytes).toBeGreaterThan(MIB)
    await reader.read()
    await buffer.push(new EventChunk([new Uint8Array(8)]))
    expect(room.heldBytes).toBeLessThan(MIB)
  })

  test('does not include read events if the memory budget is half full', async () => {
    const { room } = fullRoom(16 * MIB)
    const buffer = new EventBuffer(room)
    const reader = buffer.openReader()
    const before = room.heldBytes
    await buffer.push(lump)
    await reader.read()
    expect(room.heldBytes).toBe(before)
    expect(buffer.isReplayable).toBe(false)
  })
})

describe('an event buffer in a full memory budget', () => {
  test('waits for its slowest reader, and continues when it has read or memory is free', async () => {
    const { room, empty } = fullRoom()
    const buffer = new EventBuffer(room)
    const [fast, slow] = [buffer.openReader(), buffer.openReader()]
    const first = buffer.push(lump)
    await fast.read()
    expect(await hasSettled(first)).toBe(false)
    await slow.read()
    expect(await hasSettled(first)).toBe(true)
    const second = buffer.push(lump)
    expect(await hasSettled(second)).toBe(false)
    empty()
    expect(await hasSettled(second)).toBe(true)
  })

  test('disconnects the reader that has read nothing for longest, and keeps the one that reads', async () => {
    const { room } = fullRoom()
    const buffer = new EventBuffer(room)
    const cut: string[] = []
    const [fast, slow] = [buffer.openReader(() => cut.push('fast')), buffer.openReader(() => cut.push('slow'))]
    void buffer.push(lump)
    await fast.read()
    await vi.waitFor(() => expect(cut).toEqual(['slow']), CUT_WITHIN_MS)
    await expect(slow.read()).rejects.toMatchObject({ status: 503, code: 'read_too_slowly' })
    void buffer.push(lump)
    expect(await fast.read()).toBe(lump)
  })

  test('accepts no new stream that arrives faster than it could be read, but accepts a slow one', async () => {
    const { room } = fullRoom()
    const [fast, slow] = [new EventBuffer(room), new EventBuffer(room)]
    const [refused, taken] = [fast.openReader(), slow.openReader()]
    void fast.push(new EventChunk([new Uint8Array(64 * KIB)]))
    await expect(refused.read()).rejects.toMatchObject({ status: 503, code: 'too_many_unread_streams' })
    void slow.push(lump)
    expect(await taken.read()).toBe(lump)
  })

  test('rejects readers of a stream that is about to begin, unless memory is free', async () => {
    const [full, roomy] = [new EventBuffer(fullRoom().room), new EventBuffer(spacious())]
    const [refused, taken] = [full.openReader(), roomy.openReader()]
    for (const buffer of [full, roomy]) buffer.rejectIfMemoryFull()
    await expect(refused.read()).rejects.toMatchObject({ code: 'too_many_unread_streams' })
    void roomy.push(lump)
    expect(await taken.read()).toBe(lump)
  })
})

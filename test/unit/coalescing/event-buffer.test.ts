import { describe, expect, test } from 'vitest'
import { EventBuffer } from '../../../src/coalescing/event-buffer.ts'
import { ProxyError } from '../../../src/errors.ts'
import { EventLump } from '../../../src/formats/sse/event-lump.ts'

const MIB = 1024 * 1024
const lump = new EventLump([new Uint8Array(64 * 1024)])

/** Lumps that were taken before the next had to wait. */
async function pushUntilFull(buffer: EventBuffer): Promise<number> {
  for (let taken = 1; ; taken++) {
    const hasRoom = await Promise.race([buffer.push(lump).then(() => true), Bun.sleep(5).then(() => false)])
    if (!hasRoom) return taken
  }
}

describe('an event buffer', () => {
  test('takes 1 MiB more than its fastest reader has read, and no more', async () => {
    const buffer = new EventBuffer()
    const [fast, slow] = [buffer.openReader(), buffer.openReader()]
    expect((await pushUntilFull(buffer)) * lump.bytes.length).toBe(MIB)
    for (let read = 0; read < 8; read++) await fast.read()
    expect((await pushUntilFull(buffer)) * lump.bytes.length).toBe(8 * lump.bytes.length)
    await slow.read()
    expect((await pushUntilFull(buffer)) * lump.bytes.length).toBe(lump.bytes.length)
  })

  test('does not wait without readers, and goes on when the last reader closes', async () => {
    const buffer = new EventBuffer()
    for (let pushed = 0; pushed < 32; pushed++) await buffer.push(lump)
    const read = new EventBuffer()
    const reader = read.openReader()
    for (let pushed = 1; pushed < 16; pushed++) await read.push(lump)
    const waiting = read.push(lump)
    reader.close()
    await waiting
  })

  test('can be replayed to newcomers until it is longer than 1 MiB', async () => {
    const buffer = new EventBuffer()
    for (let pushed = 0; pushed < 16; pushed++) await buffer.push(lump)
    expect(buffer.isReplayable).toBe(true)
    await buffer.push(lump)
    expect(buffer.isReplayable).toBe(false)
  })

  test('ends for each reader after all it holds, or with what broke it off', async () => {
    const whole = new EventBuffer()
    const reader = whole.openReader()
    void whole.push(lump)
    whole.end()
    expect([await reader.read(), await reader.read()]).toEqual([lump, null])
    const broken = new EventBuffer()
    const cut = broken.openReader()
    void broken.push(lump)
    broken.end(new ProxyError({ status: 502, code: 'upstream_error', message: 'cut' }))
    expect(await cut.read()).toBe(lump)
    await expect(cut.read()).rejects.toThrow('cut')
  })
})

import { afterEach, expect, test } from 'vitest'
import type { CountBatch, CountResult } from '../../../src/stores/fast-store.ts'
import { RateWindowMirror } from '../../../src/stores/rate-window-mirror.ts'

const NOW_MS = 1_700_000_000_000
const SECOND = NOW_MS / 1000

let nowMs = NOW_MS
const opened: RateWindowMirror[] = []
afterEach(() => {
  for (const memory of opened.splice(0)) memory.close()
  nowMs = NOW_MS
})

function openMemory(processes = 1) {
  const memory = new RateWindowMirror(
    () => processes,
    () => nowMs,
  )
  const wait = (seconds: number) => {
    nowMs += seconds * 1_000
  }
  opened.push(memory)
  const batch = (requests: number, limit = 10): CountBatch => ({
    requests,
    windows: [{ name: 'w', limit }],
    entries: [],
  })
  return { memory, batch, wait, missedOf: (recalled: CountBatch) => recalled.windows[0]?.unreported }
}

const COUNTED: CountResult = {
  granted: 1,
  receipt: { second: SECOND, isInStore: true },
  waitMs: 0,
  totals: [1],
  entries: [],
}

test('reports what was admitted without the store once, however many calls could', () => {
  const { memory, batch, missedOf } = openMemory()
  expect(memory.countWithoutRedis(batch(3)).granted).toBe(3)
  const [first, second] = [memory.addUnreported(batch(1)), memory.addUnreported(batch(1))]
  expect([missedOf(first), missedOf(second)]).toEqual([3, 0])
  memory.recordCounted(first, COUNTED)
  memory.recordCounted(second, COUNTED)
  expect(missedOf(memory.addUnreported(batch(1)))).toBe(0)
})

test('reports what could not be reported with the next call', () => {
  const { memory, batch, missedOf } = openMemory()
  memory.countWithoutRedis(batch(3))
  memory.recordFailed(memory.addUnreported(batch(1)))
  expect(missedOf(memory.addUnreported(batch(1)))).toBe(3)
})

test('retains what is admitted during a report for the next report', () => {
  const { memory, batch, missedOf } = openMemory()
  memory.countWithoutRedis(batch(3))
  const telling = memory.addUnreported(batch(1))
  memory.countWithoutRedis(batch(2))
  memory.recordCounted(telling, COUNTED)
  expect(missedOf(memory.addUnreported(batch(1)))).toBe(2)
})

test('admits a batch without the store only if all of it fits', () => {
  const { memory, batch } = openMemory()
  expect(memory.countWithoutRedis(batch(4)).granted).toBe(4)
  const refused = memory.countWithoutRedis({ ...batch(7), isAllOrNothing: true })
  expect(refused).toMatchObject({ granted: 0, totals: [4] })
  expect(refused.waitMs).toBeGreaterThan(59_000)
  expect(memory.countWithoutRedis({ ...batch(6), isAllOrNothing: true })).toMatchObject({ granted: 6, waitMs: 0 })
})

test('processes without the store share a limit', () => {
  const { memory, batch } = openMemory(4)
  expect(memory.countWithoutRedis(batch(100, 40)).granted).toBe(10)
  expect(memory.countWithoutRedis(batch(1, 40))).toMatchObject({ granted: 0, totals: [40] })
  // Requests that were counted and then rejected free their capacity.
  memory.uncountWithoutRedis(['w'], 2, SECOND)
  expect(memory.countWithoutRedis(batch(5, 40)).granted).toBe(2)
})

/** A window as Redis returns it, with this many requests in the last second. */
function seenAt(second: number, requests: number): Uint8Array {
  const bytes = Buffer.alloc(12 + 61 * 4)
  for (const at of [0, 12 + (second % 61) * 4]) bytes.writeUInt32BE(requests, at)
  bytes.writeUInt32BE(second, 4)
  return bytes
}

test.each([-3_600, -20, 3_600])('if the store’s clock steps by %i s, remembered counts keep their age', step => {
  const { memory, batch, missedOf } = openMemory()
  const counted = (second: number, requests: number, recalled = memory.addUnreported(batch(1))) =>
    memory.recordCounted(recalled, {
      ...COUNTED,
      receipt: { second, isInStore: true },
      windows: [seenAt(second, requests)],
    })
  counted(SECOND, 4)
  expect(memory.countWithoutRedis(batch(3)).granted).toBe(3)
  nowMs += 30_000
  // The reply for another window reports the new time of the store.
  const other = { ...batch(1), windows: [{ name: 'other', limit: 10 }] }
  memory.recordCounted(memory.addUnreported(other), {
    ...COUNTED,
    receipt: { second: SECOND + 30 + step, isInStore: true },
  })
  expect(memory.countWithoutRedis(batch(9))).toMatchObject({
    granted: 3,
    receipt: { second: SECOND + 30 + step, isInStore: false },
  })
  expect(missedOf(memory.addUnreported(batch(1)))).toBe(6)
  // Earlier counts expire after a minute, and the later ones still apply.
  nowMs += 31_000
  expect(memory.countWithoutRedis(batch(9)).granted).toBe(7)
})

test('a late reply is no step of the store’s clock', () => {
  const { memory, batch } = openMemory()
  const recalled = memory.addUnreported(batch(1))
  expect(recalled.second).toBe(SECOND)
  nowMs += 5_000
  memory.recordCounted(recalled, COUNTED)
  expect(memory.addUnreported(batch(1)).second).toBe(SECOND + 5)
})

test('counts of a second that has left the window do not reduce those of its successor', () => {
  const { memory, batch, wait } = openMemory()
  memory.countWithoutRedis(batch(3))
  wait(61)
  memory.countWithoutRedis(batch(3))
  memory.uncountWithoutRedis(['w'], 2, SECOND)
  expect(memory.countWithoutRedis(batch(10)).granted).toBe(7)
})

test('nothing is admitted with a limit of zero', () => {
  const { memory, batch } = openMemory()
  expect(memory.countWithoutRedis(batch(1, 0)).granted).toBe(0)
})

test('restores a window as it was seen, unless no request has used it for a minute', () => {
  const { memory, batch, wait } = openMemory()
  const seen = new Uint8Array(12 + 61 * 4)
  memory.recordCounted(memory.addUnreported(batch(1)), { ...COUNTED, windows: [seen] })
  expect(memory.addUnreported(batch(1)).windows[0]?.lastSeen).toEqual(seen)
  wait(60)
  expect(memory.addUnreported(batch(1)).windows[0]?.lastSeen).toEqual(seen)
  wait(1)
  expect(memory.addUnreported(batch(1)).windows[0]?.lastSeen).toBeNull()
})

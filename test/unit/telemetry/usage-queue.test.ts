import { expect, test } from 'vitest'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { UsageQueue } from '../../../src/telemetry/usage-queue.ts'

const record = (request_id: string, cost_usd: number) => ({ request_id, cost_usd }) as UsageRecord

test('a full queue drops its oldest records, and counts them and their dollars', () => {
  const queue = new UsageQueue(2)
  expect(queue.add(record('a', 0.5))).toEqual([])
  expect(queue.add(record('b', 0.25))).toEqual([])
  expect(queue.dropped).toEqual({ records: 0, usd: 0 })
  expect(queue.add(record('c', 2))).toMatchObject([{ request_id: 'a' }])
  expect(queue.dropped).toEqual({ records: 1, usd: 0.5 })
  expect(queue.unwritten).toBe(2)
})

test('drops unwritten records at the end together with those whose write is in doubt', () => {
  const queue = new UsageQueue(10)
  queue.add(record('a', 1))
  queue.nextBatch()
  queue.add(record('b', 2))
  expect(queue.dropAll()).toHaveLength(2)
  expect(queue.dropped).toEqual({ records: 2, usd: 3 })
  expect(queue.unwritten).toBe(0)
  expect(queue.dropAll()).toEqual([])
})

test('drops the one record that the database rejects, and no other', () => {
  const queue = new UsageQueue(10)
  for (const id of ['a', 'b']) queue.add(record(id, 1))
  queue.nextBatch()
  expect(queue.splitBatch()).toBeUndefined()
  expect(queue.dropped.records).toBe(0)
  queue.nextBatch()
  expect(queue.splitBatch()).toMatchObject({ request_id: 'a' })
  expect(queue.dropped).toEqual({ records: 1, usd: 1 })
  expect(queue.unwritten).toBe(1)
})

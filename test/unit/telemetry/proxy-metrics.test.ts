import { expect, test } from 'vitest'
import type { Database } from '../../../src/postgres/database.ts'
import type { FastStore } from '../../../src/stores/fast-store.ts'
import { FailureReporter } from '../../../src/telemetry/failure-reporter.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { instrumentStores } from '../../../src/telemetry/proxy-metrics.ts'

test('records the length of a call’s list, and the time of any call', async () => {
  const metrics = createMetrics()
  const database = { call: async () => [] } as unknown as Database
  const store = { count: async () => [], readEntries: async () => [] } as unknown as FastStore
  const measured = instrumentStores({ database, store }, metrics, new FailureReporter(() => {}))
  await measured.database.call('select * from admit($1::text[], $2::integer[])', [
    ['a', 'b', 'c'],
    [1, 1, 1],
  ])
  await measured.database.call('select find_project(project => $1::text) as id', ['acme'])
  await measured.store.count({ requests: 5, windows: [], entries: [] })
  await measured.store.readEntries(['x'])
  const read = (name: string) =>
    metrics
      .snapshot()
      .find(family => family.name === name)
      ?.series.map(({ labels, value, counts }) => [labels.join(' '), value, counts.reduce((sum, count) => sum + count)])
  expect(read('model_proxy_batch_size')).toEqual([
    ['postgres admit', 3, 1],
    ['redis count', 5, 1],
    ['redis read_entries', 1, 1],
  ])
  expect(read('model_proxy_store_duration_seconds')?.map(([labels]) => labels)).toEqual([
    'postgres admit',
    'postgres find_project',
    'redis count',
    'redis read_entries',
  ])
})

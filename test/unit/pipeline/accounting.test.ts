import { expect, test } from 'vitest'
import { NO_USAGE } from '../../../src/catalogue/catalogue.ts'
import { ClientGone, refuse } from '../../../src/errors.ts'
import { type AccountingOptions, createAccounting } from '../../../src/pipeline/accounting.ts'
import type { Account } from '../../../src/postgres/admit.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createProxyMetrics } from '../../../src/telemetry/proxy-metrics.ts'

const ACCOUNT = { project_id: 7, key_id: 70, key_type: 'test', month: '2026-11-01', log_content: 'off' } as Account
const QUERY = {
  endpoint: 'chat',
  model: 'sandbox/echo',
  stream: false,
  body: { messages: [{ role: 'user', content: 'Hello' }] },
} as const
const PROVIDER = { name: 'sandbox', pricedAs: null } as never
const ANSWERED = { status: 200, counts: true, cacheResult: 'MISS', usage: NO_USAGE } as const
const FAILED = { ...ANSWERED, status: 502, counts: false }

/** One request, and what its accounting left behind: records written, refunds, and how often it was said to be over. */
function openRequest() {
  const left = { records: [] as UsageRecord[], refunds: 0, ends: 0 }
  const options: AccountingOptions = {
    recorder: { record: record => left.records.push(record), drain: async () => {}, waiting: () => 0 },
    semanticHits: { record: () => {}, drain: async () => {} },
    quota: { refund: () => left.refunds++ },
    catalogue: {
      find: () => undefined,
      aliasOf: () => undefined,
      directProvidersOf: () => [],
      listedBy: () => [],
      close: () => {},
    },
    metrics: createProxyMetrics(createMetrics()),
    log: createLog('silent'),
  }
  const accounting = createAccounting(options)
  const request = accounting.open(
    { id: 'r', arrivedAtMs: performance.now(), signal: new AbortController().signal },
    ACCOUNT,
    () => left.ends++,
  )
  return { accounting, request, left }
}

const statuses = (records: readonly UsageRecord[]) => records.map(({ status }) => status)

test('a request that counts is recorded, and nothing is given back', () => {
  const { request, left } = openRequest()
  request.noteQuery(QUERY)
  request.finish(ANSWERED)
  expect([statuses(left.records), left.refunds, left.ends]).toEqual([[200], 0, 1])
})

test('only the first end counts, whatever the later ones say', () => {
  const { request, left } = openRequest()
  request.noteQuery(QUERY)
  request.finish(FAILED)
  request.finish(FAILED)
  request.finish(ANSWERED)
  request.finishFailed(refuse('upstreamBrokeOff'))
  expect([statuses(left.records), left.refunds, left.ends]).toEqual([[502], 1, 1])
})

test('a failure after the answer takes nothing back', () => {
  const { request, left } = openRequest()
  request.noteQuery(QUERY)
  request.finish(ANSWERED)
  request.finishFailed(new ClientGone())
  expect([statuses(left.records), left.refunds, left.ends]).toEqual([[200], 0, 1])
})

test('a request that ends before it is parsed is given back, and is no record', () => {
  const { request, left } = openRequest()
  request.finishFailed(refuse('invalidKey'))
  expect([left.records, left.refunds, left.ends]).toEqual([[], 1, 1])
})

test('a client that leaves is charged once its provider was asked', () => {
  for (const isAsked of [false, true]) {
    const { request, left } = openRequest()
    request.noteQuery(QUERY)
    request.noteProvider(PROVIDER)
    if (isAsked) request.noteAsked()
    request.finishFailed(new ClientGone())
    expect([statuses(left.records), left.refunds]).toEqual([[499], isAsked ? 0 : 1])
    expect((left.records[0]?.prompt_tokens ?? 0) > 0).toBe(isAsked)
  }
})

test('another provider than the one that was asked has not been asked', () => {
  const { request, left } = openRequest()
  request.noteQuery(QUERY)
  request.noteProvider(PROVIDER)
  request.noteAsked()
  request.noteProvider(PROVIDER)
  request.noteProvider({ name: 'other', pricedAs: null } as never)
  request.finishFailed(new ClientGone())
  expect(left.refunds).toBe(1)
})

test('a client that this process cuts off is not charged', () => {
  const { accounting, request, left } = openRequest()
  request.noteQuery(QUERY)
  request.noteProvider(PROVIDER)
  request.noteAsked()
  accounting.noteCut()
  request.finishFailed(new ClientGone())
  expect(left.refunds).toBe(1)
})

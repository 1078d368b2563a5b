import { expect, test } from 'vitest'
import { createTokenRateLimiter } from '../../../src/admission/token-rate-limiter.ts'
import { ClientDisconnected, createError, invalidRequestError } from '../../../src/errors/errors.ts'
import { NO_USAGE } from '../../../src/formats/token-usage.ts'
import {
  type AccountingOptions,
  createAccounting,
  MAX_RECORDED_REJECTIONS_PER_MINUTE,
} from '../../../src/pipeline/accounting/accounting.ts'
import type { RequestMetadata } from '../../../src/pipeline/accounting/create-record.ts'
import type { EstimateCallUsage } from '../../../src/pipeline/spending/call-usage.ts'
import type { ResolvedKey } from '../../../src/postgres/admit-requests.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { brokenResponseError, circuitOpenError } from '../../../src/providers/upstream-failure.ts'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createProxyMetrics } from '../../../src/telemetry/proxy-metrics.ts'
import { SEEDED_VENDORS } from '../../harness/vendors.ts'

const ACCOUNT = { project_id: 7, key_id: 70, key_type: 'test', month: '2026-11-01', log_content: 'off' } as ResolvedKey
const QUERY = {
  endpoint: 'chat',
  model: 'sandbox/echo',
  stream: false,
  body: { messages: [{ role: 'user', content: 'Hello' }] },
} as const
const REQUEST: RequestMetadata = {
  id: 'r',
  target: { kind: 'endpoint', endpoint: 'chat', model: null },
  arrivedAtMs: performance.now(),
  signal: new AbortController().signal,
}
const PROVIDER = { name: 'sandbox', pricedAs: null } as never
const DOUBT = { doubtfulUsd: 0.24, doubtfulTokens: 93 }
const KNOWN = { ...NO_USAGE, promptTokens: 5, completionTokens: 2, reportedCostUsd: 0.01 }
const estimate: EstimateCallUsage = reason => ({ ...KNOWN, estimate: { reason, ...DOUBT } })
const ATTEMPT = { provider: 'sandbox', key: null, startedAtMs: performance.now(), status: 200, failure: null }
const ANSWERED = { status: 200, isCounted: true, cacheResult: 'MISS', usage: NO_USAGE } as const
const FAILED = { ...ANSWERED, status: 502, isCounted: false }

/** Opens a request. `left` collects its effects: records written, refunds, calls of the finish callback, and released reservations. */
function openRequest(account = ACCOUNT) {
  const left = { records: [] as UsageRecord[], refunds: 0, ends: 0, released: [] as string[] }
  const options: AccountingOptions = {
    recorder: {
      record: record => left.records.push(record),
      drain: async () => {},
      waiting: () => 0,
      dropped: () => ({ records: 0, usd: 0 }),
    },
    contents: { record: () => {} },
    reconciler: { reconcileLater: () => {} },
    semanticHits: { record: () => {}, recordContext: () => {}, drain: async () => {} },
    quota: { refund: () => left.refunds++ },
    budgets: { reserve: async () => null, stopRenewing: () => {}, release: id => left.released.push(id) },
    tokenWindows: createTokenRateLimiter(createInProcessStore()),
    catalogue: {
      vendors: SEEDED_VENDORS,
      find: () => undefined,
      aggregatorNameOf: () => undefined,
      nativeNameOf: () => undefined,
      directProvidersOf: () => [],
      modelsOf: () => [],
      recordExceededLimit: () => {},
      close: () => {},
    },
    metrics: createProxyMetrics(createMetrics()),
    log: createLog('silent'),
  }
  const accounting = createAccounting(options)
  const request = accounting.open(REQUEST, account, () => left.ends++)
  return { accounting, request, left }
}

const statuses = (records: readonly UsageRecord[]) => records.map(({ status }) => status)

test('records a request that counts, and refunds nothing', () => {
  const { request, left } = openRequest()
  request.setQuery(QUERY)
  request.finish(ANSWERED)
  expect([statuses(left.records), left.refunds, left.ends]).toEqual([[200], 0, 1])
})

test('a free request leaves no trace, however it ends', async () => {
  const { accounting, left } = openRequest()
  const request: RequestMetadata = { ...REQUEST, isRecorded: false }
  const free = accounting.open(request, { ...ACCOUNT, has_budgets: true }, null)
  free.setQuery(QUERY)
  free.setProvider(PROVIDER)
  free.beginCall(estimate)
  free.finishFailed(new ClientDisconnected())
  free.finish(ANSWERED)
  await accounting.waitUntilFinished()
  expect([left.records, left.refunds, free.spending, request.isRecorded]).toEqual([[], 0, null, false])
})

test('only the first end counts, whatever later ones report', () => {
  const { request, left } = openRequest()
  request.setQuery(QUERY)
  request.finish(FAILED)
  request.finish(FAILED)
  request.finish(ANSWERED)
  request.finishFailed(createError('upstreamInterrupted'))
  expect([statuses(left.records), left.refunds, left.ends]).toEqual([[502], 1, 1])
})

test('a failure after the response refunds nothing', () => {
  const { request, left } = openRequest()
  request.setQuery(QUERY)
  request.finish(ANSWERED)
  request.finishFailed(new ClientDisconnected())
  expect([statuses(left.records), left.refunds, left.ends]).toEqual([[200], 0, 1])
})

test('refunds a request that ends before it is parsed, and records it by its path', () => {
  const { request, left } = openRequest()
  request.finishFailed(invalidRequestError('The body must be JSON.'))
  expect(left).toMatchObject({ refunds: 1, ends: 1 })
  expect(left.records).toMatchObject([
    {
      endpoint: 'chat',
      model: '',
      status: 400,
      error_code: 'invalid_request_error',
      error_message: 'The body must be JSON.',
    },
  ])
})

test('records thirty rejected requests a minute, and all that an upstream rejected', () => {
  const { accounting, left } = openRequest()
  const open = () => accounting.open(REQUEST, ACCOUNT, () => {})
  for (let n = 0; n < 20; n++) accounting.recordRejection(REQUEST, ACCOUNT, null, createError('monthlyQuotaExceeded'))
  for (let n = 0; n < 20; n++) open().finishFailed(invalidRequestError('No.'))
  expect(left.records).toHaveLength(30)
  for (let n = 0; n < 20; n++) {
    const asked = open()
    asked.setProvider(PROVIDER)
    asked.beginCall(estimate)
    asked.attempts.record({ ...ATTEMPT, status: 400 })
    asked.finishFailed({ status: 400, headers: {}, body: '{"error":{"message":"No.","type":"bad"}}' })
  }
  expect(left.records).toHaveLength(50)
  expect(left.records.at(-1)).toMatchObject({
    error_code: 'bad',
    upstream_status: 400,
    upstream_message: 'No.',
    attempts: 1,
  })
})

test('records of a fallback name the failed model, the failure, and the number of calls', () => {
  const { request, left } = openRequest()
  request.setQuery(QUERY)
  request.setProvider(PROVIDER)
  request.beginCall(estimate)
  const failure = brokenResponseError('sandbox', 'answered with a redirect', 307)
  request.attempts.record({ ...ATTEMPT, key: 'first', status: 429 })
  request.attempts.record({ ...ATTEMPT, key: 'second', status: 307, failure })
  request.recordFailure(failure)
  request.setProvider(PROVIDER, 'other/model')
  request.attempts.record({ ...ATTEMPT, status: null, failure: circuitOpenError('sandbox', 1) })
  request.attempts.record(ATTEMPT)
  request.finish(ANSWERED)
  expect(left.records).toMatchObject([
    {
      status: 200,
      model: 'other/model',
      asked_model: 'sandbox/echo',
      fallbacks: 'other/model',
      upstream_status: 307,
      attempts: 3,
      provider_keys: 'first 429, second',
      attempt_list: [
        { model: 'sandbox/echo', provider: 'sandbox', key: 'first', kind: 'rate_limited', status: 429 },
        { model: 'sandbox/echo', provider: 'sandbox', key: 'second', kind: 'malformed', status: 307 },
        { model: 'other/model', provider: 'sandbox', key: null, kind: 'circuit_open', status: null },
        { model: 'other/model', provider: 'sandbox', key: null, kind: null, status: 200 },
      ],
    },
  ])
  expect(left.records[0]).not.toHaveProperty('error_code')
})

test('charges a disconnected client once its provider was called', () => {
  for (const isAsked of [false, true]) {
    const { request, left } = openRequest()
    request.setQuery(QUERY)
    request.setProvider(PROVIDER)
    if (isAsked) request.beginCall(estimate)
    request.finishFailed(new ClientDisconnected())
    expect([statuses(left.records), left.refunds]).toEqual([[499], isAsked ? 0 : 1])
    expect((left.records[0]?.prompt_tokens ?? 0) > 0).toBe(isAsked)
    const estimated = isAsked
      ? { cost_estimated: 'client_left', doubtful_usd: 0.24 }
      : { cost_estimated: null, doubtful_usd: null }
    expect(left.records[0]).toMatchObject(estimated)
  }
})

test('does not treat another provider than the one that was called as called', () => {
  const { request, left } = openRequest()
  request.setQuery(QUERY)
  request.setProvider(PROVIDER)
  request.beginCall(estimate)
  request.setProvider(PROVIDER)
  request.setProvider({ name: 'other', pricedAs: null } as never)
  request.finishFailed(new ClientDisconnected())
  expect(left.refunds).toBe(1)
})

test('does not charge a client that this process disconnects', () => {
  const { accounting, request, left } = openRequest()
  request.setQuery(QUERY)
  request.setProvider(PROVIDER)
  request.beginCall(estimate)
  accounting.beginShutdown()
  request.finishFailed(new ClientDisconnected())
  expect(left.refunds).toBe(1)
})

test('settles the reservation with the record, and releases it if a rejection is not recorded', async () => {
  const { accounting, request, left } = openRequest({ ...ACCOUNT, has_budgets: true } as ResolvedKey)
  await request.spending?.reserveMoney('m', { usd: 1, tokens: 1 })
  request.finish(ANSWERED)
  expect([left.records[0]?.spent, left.released]).toEqual([
    [{ id: expect.any(String), model: '', usd: 0, tokens: 0 }],
    [],
  ])
  for (let i = 0; i <= MAX_RECORDED_REJECTIONS_PER_MINUTE; i++) {
    const refused = accounting.open(REQUEST, { ...ACCOUNT, has_budgets: true } as ResolvedKey, () => {})
    refused.setQuery(QUERY)
    await refused.spending?.reserveMoney('m', { usd: 1, tokens: 1 })
    refused.finishFailed(invalidRequestError('no'))
  }
  expect([left.records.length, left.released.length]).toEqual([1 + MAX_RECORDED_REJECTIONS_PER_MINUTE, 1])
})

test('charges every call of the judge', () => {
  const { request, left } = openRequest()
  for (const usd of [0.1, 0.2]) request.addJudgeCost(usd)
  request.finish(ANSWERED)
  expect(left.records[0]?.cost_usd).toBeCloseTo(0.3, 9)
})

test('reserves for a request with budgets or a token limit', () => {
  const spendingOf = (more: Partial<ResolvedKey>) =>
    openRequest({ ...ACCOUNT, ...more } as ResolvedKey).request.spending
  expect(spendingOf({ has_budgets: true, tokens_per_minute: null })).not.toBeNull()
  expect(spendingOf({ has_budgets: false, tokens_per_minute: 5 })).not.toBeNull()
  expect(spendingOf({ has_budgets: false, tokens_per_minute: null })).toBeNull()
})

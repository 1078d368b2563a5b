/** The failed calls of a request that may have cost something, and the usage that each is charged. */
import { describe, expect, test } from 'vitest'
import { ClientDisconnected, createError, invalidRequestError } from '../../../../src/errors/errors.ts'
import { NO_USAGE } from '../../../../src/formats/token-usage.ts'
import { canHaveCost, type ResponseHead, UpstreamCalls } from '../../../../src/pipeline/spending/upstream-calls.ts'
import {
  attachUsage,
  brokenResponseError,
  circuitOpenError,
  connectTimeoutError,
  emptyResponseError,
  failedResponseError,
  responseTimeoutError,
  unreachableError,
} from '../../../../src/providers/upstream-failure.ts'

const reportedError = { status: 500, code: 'server_error', message: 'Overloaded.', type: 'server_error' }

/**
 * Each kind of failure. `before`: a call may have cost something if it fails before any response headers. `after`: the same after headers
 * of status 200.
 */
const FAILURES: Record<string, { failure: unknown; before: boolean; after: boolean }> = {
  'refused connection': {
    failure: unreachableError('p', Object.assign(new Error(), { code: 'ECONNREFUSED' })),
    before: false,
    after: true,
  },
  'connect timeout': { failure: connectTimeoutError('p', 1), before: false, after: true },
  'open circuit': { failure: circuitOpenError('p', 1), before: false, after: true },
  'reset connection': { failure: unreachableError('p', new Error('reset')), before: true, after: true },
  'silent provider': { failure: responseTimeoutError('p', 'first byte', 1), before: true, after: true },
  'broken response': { failure: brokenResponseError('p', 'sent half of it'), before: true, after: true },
  'redirect, which counts as a broken response': {
    failure: brokenResponseError('p', 'redirected', 302),
    before: false,
    after: true,
  },
  'error in a response with status 200': {
    failure: failedResponseError(reportedError, 'error_in_body', null),
    before: false,
    after: false,
  },
  'empty response body': { failure: emptyResponseError('p', 'sent a page'), before: false, after: false },
  'client that disconnected during a call': { failure: new ClientDisconnected(true), before: true, after: true },
  'client that disconnected between free calls': { failure: new ClientDisconnected(false), before: false, after: true },
  'rejected request': { failure: invalidRequestError('No.'), before: false, after: true },
  'unavailable database': { failure: createError('databaseUnavailable'), before: false, after: true },
  'internal error of the proxy': { failure: new TypeError('x is undefined'), before: true, after: true },
  'error response of the provider': { failure: { status: 500 }, before: false, after: true },
}

const head = (status: number): ResponseHead => ({
  status,
  headers: new Headers(),
  headersAtMs: performance.now(),
})

describe.each(Object.entries(FAILURES))('%s', (_, { failure, before, after }) => {
  test('may have cost something, or not', () => {
    expect(canHaveCost(failure, null)).toBe(before)
    expect(canHaveCost(failure, 200)).toBe(after)
    expect(canHaveCost(failure, 500)).toBe(false)
  })

  test('is charged the estimate exactly if it may have cost something', () => {
    for (const [status, isCharged] of [
      [null, before],
      [200, after],
      [503, false],
    ] as const) {
      const calls = new UpstreamCalls({})
      calls.begin('m', reason => ({ ...NO_USAGE, estimate: { reason, doubtfulUsd: 2, doubtfulTokens: 3 } }))
      if (status !== null) calls.recordHead(head(status))
      calls.recordFailure(failure)
      expect(calls.failedCalls.map(({ model, usage }) => [model, usage.estimate?.doubtfulUsd])).toEqual(
        isCharged ? [['m', 2]] : [],
      )
      // A call is charged once.
      calls.recordFailure(failure)
      expect(calls.failedCalls).toHaveLength(isCharged ? 1 : 0)
    }
  })
})

test('usage that the provider reported before it failed is charged instead of the estimate, but not that of a silent one', () => {
  const usage = { ...NO_USAGE, promptTokens: 7 }
  const charged = [brokenResponseError('p', 'sent half of it'), responseTimeoutError('p', 'next byte', 1)].map(
    failure => {
      const calls = new UpstreamCalls({})
      calls.begin('m', reason => ({ ...NO_USAGE, estimate: { reason, doubtfulUsd: 2, doubtfulTokens: 3 } }))
      calls.recordFailure(attachUsage(failure, usage))
      return calls.failedCalls.map(each => [each.usage.promptTokens, each.usage.estimate?.reason])
    },
  )
  expect(charged).toEqual([[[7, undefined]], [[0, 'provider_silent']]])
})

test('usage that was estimated from the response of a silent provider is charged', () => {
  const estimate = { reason: 'provider_silent', doubtfulUsd: 1, doubtfulTokens: 1 } as const
  const calls = new UpstreamCalls({})
  calls.begin('m', () => NO_USAGE)
  const usage = { ...NO_USAGE, completionTokens: 9, estimate }
  calls.recordFailure(Object.assign(responseTimeoutError('p', 'next token', 1), { usage }))
  expect(calls.failedCalls).toEqual([{ model: 'm', usage }])
})

test('a call whose usage is known is not charged again', () => {
  const calls = new UpstreamCalls({})
  calls.begin('m', () => NO_USAGE)
  calls.recordKnownUsage()
  calls.recordFailure(brokenResponseError('p', 'sent half of it'))
  expect(calls.failedCalls).toEqual([])
})

describe('a call whose client left is read to its end', () => {
  const estimate = { reason: 'client_left' as const, doubtfulUsd: 0, doubtfulTokens: 9 }
  test.each([
    ['if it costs something', { reportedCostUsd: 0, estimate: { ...estimate, doubtfulUsd: 0.01 } }, true, true],
    ['with budgets if it has no price', { reportedCostUsd: 0, isUnpriced: true, estimate }, false, true],
    ['with budgets if its model is free, because they may count tokens', { reportedCostUsd: 0, estimate }, false, true],
    ['not if all is known', { reportedCostUsd: 0.01 }, false, false],
  ])('%s', (_, usage, alone, withBudgets) => {
    const calls = new UpstreamCalls({})
    calls.begin('m', () => ({ ...NO_USAGE, ...usage }))
    expect([calls.isUsageWorthAwaiting(false), calls.isUsageWorthAwaiting(true)]).toEqual([alone, withBudgets])
  })
})

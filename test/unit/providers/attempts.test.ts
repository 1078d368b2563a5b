import { describe, expect, test } from 'vitest'
import { ClientDisconnected, createError, createUpstreamError } from '../../../src/errors/errors.ts'
import type { Attempt } from '../../../src/postgres/usage-record.ts'
import { AttemptList, PROVIDER_KEY_HEADER, withAttempts } from '../../../src/providers/attempts.ts'
import { FAILURE_KINDS } from '../../../src/providers/failure-kind.ts'
import type { Provider, UpstreamRequest, UpstreamResponse } from '../../../src/providers/upstream.ts'
import {
  brokenResponseError,
  circuitOpenError,
  connectTimeoutError,
  emptyResponseError,
  failedResponseError,
  responseTimeoutError,
  unreachableError,
} from '../../../src/providers/upstream-failure.ts'

const STARTED = { provider: 'p', key: null, startedAtMs: performance.now(), status: null, failure: null }

function createList() {
  const failed: Attempt[] = []
  const list = new AttemptList({ currentModel: () => 'm', onFailed: attempt => failed.push({ ...attempt }) })
  return { list, failed }
}

/** Returns the kind with which a request that ends like this is listed. `status` is that of the response before the failure. */
function listedKind(failure: unknown, status: number): string | null | undefined {
  const { list } = createList()
  list.record({ ...STARTED, status })
  list.recordFailure(failure)
  return list.all.at(-1)?.kind
}

const network = (code: string) => unreachableError('p', Object.assign(new Error(), { code }))
const failed = (completeness: Parameters<typeof failedResponseError>[1]) =>
  failedResponseError({ status: 502, code: 'upstream_error', message: 'No.', type: 'api_error' }, completeness, null)
const reported = (status: number, code: string, message = 'No.') =>
  failedResponseError({ status, code, message, type: 'api_error' }, 'error_in_stream', null)

describe('kinds of failure', () => {
  test.each([
    ['connection_refused', network('ECONNREFUSED')],
    ['connect_timeout', connectTimeoutError('p', 1)],
    ['dns_error', network('ENOTFOUND')],
    ['dns_error', network('EAI_AGAIN')],
    ['tls_error', network('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['tls_error', network('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['unreachable', network('EHOSTUNREACH')],
    ['connection_reset', network('ECONNRESET')],
    ['first_token_timeout', responseTimeoutError('p', 'first byte', 1)],
    ['idle_timeout', responseTimeoutError('p', 'next byte', 1)],
    ['truncated', brokenResponseError('p', 'broke off its answer', undefined, new Error())],
    ['truncated', failed('missing_end')],
    ['truncated', failed('unfinished_choice')],
    ['malformed', brokenResponseError('p', 'answered with a redirect', 302)],
    ['malformed', emptyResponseError('p', 'sent a page')],
    ['malformed', failed('malformed_chunk')],
    ['malformed', failed('not_a_response')],
    ['empty', failed('no_output')],
    ['empty', failed('empty_choice')],
    ['server_error', failed('unknown_finish_reason')],
    ['circuit_open', circuitOpenError('p', 1)],
    ['overloaded', reported(503, 'overloaded')],
    ['rate_limited', reported(429, 'rate_limit_exceeded')],
    ['server_error', reported(500, 'server_error')],
    ['content_filter', reported(400, 'content_policy_violation')],
    ['authentication', brokenResponseError('p', 'rejected the key', 401)],
  ] as const)('%s: %s', (kind, failure) => {
    expect(failure.failureKind).toBe(kind)
    expect(listedKind(failure, 200)).toBe(kind)
    expect(Object.keys(FAILURE_KINDS)).toContain(kind)
  })

  test.each([
    [400, '{"error":{"message":"Bad","code":null}}', 'invalid_request'],
    [400, '{"error":{"message":"No.","code":"context_length_exceeded"}}', 'context_length'],
    [400, '{"error":{"message":"No.","code":"content_policy_violation"}}', 'content_filter'],
    [
      400,
      new TextEncoder().encode('{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}'),
      'context_length',
    ],
    [401, '', 'authentication'],
    [402, '', 'insufficient_quota'],
    [403, '{"error":{"message":"Forbidden"}}', 'permission_denied'],
    [404, '', 'not_found'],
    [408, '', 'response_timeout'],
    [413, '', 'request_too_large'],
    [429, '', 'rate_limited'],
    [429, '{"error":{"message":"No.","code":"insufficient_quota"}}', 'insufficient_quota'],
    [500, 'page', 'server_error'],
    [503, '', 'overloaded'],
    [529, '', 'overloaded'],
    [429, new Uint8Array(20_000), 'rate_limited'],
  ] as const)('status %i with the body %j', (status, body, kind) => {
    expect(listedKind({ status, headers: {}, body }, status)).toBe(kind)
    // The status that clients get may differ.
    expect(listedKind({ status: 418, upstreamStatus: status, headers: {}, body }, status)).toBe(kind)
  })

  test('an error that the provider reports within its stream is listed, an error of the proxy is not', () => {
    expect(listedKind(createUpstreamError({ status: 529, code: 'overloaded', message: 'Overloaded' }), 200)).toBe(
      'overloaded',
    )
    for (const failure of [createError('tooManyUnreadStreams'), new ClientDisconnected(), new TypeError('x')])
      expect(listedKind(failure, 200)).toBeNull()
  })
})

describe('the list', () => {
  test('lists a failure once, and marks only the last attempt', () => {
    const { list, failed } = createList()
    const refused = network('ECONNREFUSED')
    list.record({ ...STARTED, failure: refused })
    list.record({ ...STARTED, status: 200 })
    list.recordFailure(refused)
    expect(list.all.map(({ kind }) => kind)).toEqual(['connection_refused', null])
    list.recordFailure(responseTimeoutError('p', 'next byte', 1))
    list.recordFailure(failed[0])
    expect(list.all.map(({ kind }) => kind)).toEqual(['connection_refused', 'idle_timeout'])
    expect(failed.map(({ kind }) => kind)).toEqual(['connection_refused', 'idle_timeout'])
    expect(list.lastFailureKind).toBe('idle_timeout')
  })

  test('of a request whose call another request made is empty, but its failure has a kind', () => {
    const { list } = createList()
    list.recordFailure(network('ECONNREFUSED'))
    expect([list.all, list.failed, list.calls, list.lastFailureKind]).toEqual([[], null, 0, 'connection_refused'])
  })

  test('keeps the last fifty attempts, and counts all calls', () => {
    const { list } = createList()
    for (let status = 500; status < 560; status++) list.record({ ...STARTED, status })
    list.record({ ...STARTED, failure: circuitOpenError('p', 1) })
    expect([list.all.length, list.all[0]?.status, list.calls]).toEqual([50, 511, 60])
  })

  test('names each key once, and the status with which it was rejected', () => {
    const { list } = createList()
    for (const [key, status] of [
      ['a', 500],
      ['b', 429],
      ['c', 403],
      ['a', 200],
    ] as const)
      list.record({ ...STARTED, key, status })
    list.record({ ...STARTED, key: 'd', failure: circuitOpenError('p', 1) })
    expect([list.keyNames, list.lastKey]).toEqual([['b 429', 'c 403', 'a'], 'd'])
  })
})

describe('a provider with attempts', () => {
  const signal = new AbortController().signal
  const request: UpstreamRequest = {
    endpoint: 'chat',
    bodyText: '',
    body: {},
    headers: new Headers(),
    stream: false,
    signal,
  }
  const response = (): UpstreamResponse => ({
    status: 503,
    headers: new Headers(),
    body: new ReadableStream(),
    isStorable: () => true,
  })
  const provide = (send: () => Promise<UpstreamResponse>): Provider => ({
    name: 'p',
    pricedAs: null,
    send,
    passThrough: send,
    sendStored: send,
  })

  test('reports each response and each failure of the provider, with the name of the key', async () => {
    const { list } = createList()
    const recordAttempt = list.record
    const failure = network('ECONNREFUSED')
    const well = withAttempts(
      provide(async () => response()),
      'second',
    )
    const asked = {
      ...request,
      method: 'GET' as const,
      path: '/',
      query: '',
      hasSideEffects: false,
      isDownload: false,
      body: null,
      recordAttempt,
    }
    expect((await well.send({ ...request, recordAttempt })).headers.get(PROVIDER_KEY_HEADER)).toBe('second')
    await well.passThrough?.(asked)
    await well.sendStored?.(asked)
    await expect(
      withAttempts(
        provide(async () => Promise.reject(failure)),
        null,
      ).send({ ...request, recordAttempt }),
    ).rejects.toBe(failure)
    const listed = { model: 'm', provider: 'p', key: 'second', kind: 'overloaded', status: 503, ms: expect.any(Number) }
    expect(list.all).toEqual([
      listed,
      listed,
      listed,
      { ...listed, key: null, kind: 'connection_refused', status: null },
    ])
  })

  test('reports no call that the client abandoned, and none that the proxy rejected', async () => {
    const { list } = createList()
    for (const failure of [
      new ClientDisconnected(),
      createError('endpointUnsupported', { vendor: 'p', endpoint: 'chat' }),
    ]) {
      const provider = withAttempts(
        provide(async () => Promise.reject(failure)),
        null,
      )
      await expect(provider.send({ ...request, recordAttempt: list.record })).rejects.toBe(failure)
    }
    expect(list.all).toEqual([])
    const well = withAttempts(
      provide(async () => response()),
      null,
    )
    expect((await well.send(request)).headers.get(PROVIDER_KEY_HEADER)).toBeNull()
  })
})

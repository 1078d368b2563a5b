import { describe, expect, test } from 'vitest'
import { toProxyError, writeOpenAiError } from '../../../../src/formats/errors/client-error.ts'
import { readProviderError } from '../../../../src/formats/errors/provider-error.ts'
import { translateUpstreamResponse } from '../../../../src/providers/anthropic/response/translate-upstream-response.ts'
import type { UpstreamResponse } from '../../../../src/providers/upstream.ts'

const PLAIN = { stream: false }
const STREAMED = { stream: true }
const CONTEXT = { createdSeconds: 0, isJsonObject: false, usesLegacyFunctions: false, localStopSequences: [] }

function answer(status: number, body: string, headers: Record<string, string> = {}): UpstreamResponse {
  return {
    status,
    headers: new Headers({ 'content-type': 'application/json', ...headers }),
    body: new Blob([body]).stream(),
    isStorable: () => true,
  }
}

function errorBody(type: string, message = 'Oh', details?: object): string {
  return JSON.stringify({ type: 'error', error: { type, message, ...(details ? { details } : {}) }, request_id: 'r' })
}

describe('an error', () => {
  test.each([
    ['invalid_request_error', 400, 'invalid_request_error'],
    ['authentication_error', 401, 'invalid_api_key'],
    ['billing_error', 402, 'insufficient_quota'],
    ['permission_error', 403, 'permission_denied'],
    ['not_found_error', 404, 'model_not_found'],
    ['conflict_error', 409, 'conflict'],
    ['request_too_large', 413, 'request_too_large'],
    ['rate_limit_error', 429, 'rate_limit_exceeded'],
    ['api_error', 500, 'server_error'],
    ['timeout_error', 504, 'upstream_timeout'],
    ['overloaded_error', 529, 'overloaded'],
    ['constructor', 502, 'upstream_error'],
  ])('an event of %s has status %i and code %s', (type, status, code) => {
    const error = toProxyError(JSON.parse(errorBody(type)))
    expect(error.status).toBe(status)
    expect(error.toBody()).toEqual({ error: { message: 'Oh', type, param: null, code } })
  })

  test('a more specific code of Anthropic has precedence', () => {
    const body = errorBody('rate_limit_error', 'Oh', { error_code: 'enforced_spend_limit_reached' })
    expect(writeOpenAiError(readProviderError(body, 429)).body.error).toMatchObject({
      type: 'rate_limit_error',
      code: 'enforced_spend_limit_reached',
    })
  })

  test.each([undefined, null, 'x', {}, { error: 'x' }, { error: { message: 7 } }])('reads %j as well', body => {
    const error = readProviderError(body, 502)
    expect(writeOpenAiError(error)).toEqual({
      status: 502,
      body: { error: { message: error.message, type: 'api_error', param: null, code: null } },
    })
  })
})

describe('translateResponseJob', () => {
  test('keeps an error’s status, Retry-After and rate limits', async () => {
    const headers = { 'retry-after': '7', 'anthropic-ratelimit-requests-remaining': '0', 'request-id': 'req_1' }
    const told = await translateUpstreamResponse(answer(429, errorBody('rate_limit_error'), headers), CONTEXT, PLAIN)
    expect(told.status).toBe(429)
    expect(Object.fromEntries(told.headers)).toMatchObject({
      ...headers,
      'content-type': 'application/json',
    })
    expect(await new Response(told.body).json()).toMatchObject({
      error: { code: 'rate_limit_exceeded', message: 'Oh' },
    })
  })

  test('keeps 529, which OpenAI’s clients retry', async () => {
    const told = await translateUpstreamResponse(answer(529, errorBody('overloaded_error')), CONTEXT, PLAIN)
    expect(told.status).toBe(529)
  })

  test('returns a stream that begins with an error as a response with its status, which may be retried', async () => {
    const event = `event: error\ndata: ${errorBody('overloaded_error')}\n\n`
    const headers = { 'content-type': 'text/event-stream', 'anthropic-ratelimit-requests-remaining': '3' }
    const told = await translateUpstreamResponse(answer(200, event, headers), CONTEXT, STREAMED)
    expect(told.status).toBe(529)
    expect(told.headers.get('content-type')).toBe('application/json')
    expect(told.headers.get('anthropic-ratelimit-requests-remaining')).toBe('3')
    expect(await new Response(told.body).json()).toMatchObject({ error: { code: 'overloaded' } })
  })

  test('throws if a stream ends before it began', async () => {
    const told = translateUpstreamResponse(answer(200, '', { 'content-type': 'text/event-stream' }), CONTEXT, STREAMED)
    await expect(told).rejects.toMatchObject({ status: 502, kind: 'empty', replacesResponse: true })
  })

  test('returns a gateway’s page as an error', async () => {
    const page = answer(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' })
    const told = await translateUpstreamResponse(page, CONTEXT, PLAIN)
    expect(told.headers.get('content-type')).toBe('application/json')
    expect(await new Response(told.body).json()).toMatchObject({
      error: { message: 'Bad gateway' },
    })
  })

  test.each(['', '[]', '{}', '{"type":"message"}', '{"type":"message","content":[]}', 'x'])(
    'rejects %j as a response',
    async body => {
      await expect(translateUpstreamResponse(answer(200, body), CONTEXT, PLAIN)).rejects.toMatchObject({ status: 502 })
    },
  )
})

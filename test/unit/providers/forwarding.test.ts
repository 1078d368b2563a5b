import { expect, test } from 'vitest'
import { forwardRequestHeaders, returnResponseHeaders } from '../../../src/providers/forwarded-headers.ts'
import { askForUsage } from '../../../src/providers/openai-compatible.ts'

test("the client's credentials and what concerns its own connection stay here", () => {
  const forwarded = forwardRequestHeaders(
    new Headers({
      authorization: 'Bearer lgw_proj_x',
      cookie: 'a=b',
      'x-api-key': 'k',
      connection: 'close, x-only-here',
      'x-only-here': '1',
      te: 'trailers',
      host: 'proxy',
      'accept-encoding': 'br',
      'x-forwarded-for': '192.0.2.1',
      'x-proxy-cache-ttl': '3',
      'openai-organization': 'org',
      'user-agent': 'OpenAI/JS',
      'x-title': 'App',
    }),
  )
  expect(Object.fromEntries(forwarded)).toEqual({ 'user-agent': 'OpenAI/JS', 'x-title': 'App' })
})

test("upstream's cookies, framing and claims to be us stay there", () => {
  const returned = returnResponseHeaders(
    new Headers({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': '3',
      'set-cookie': 'a=b',
      'x-proxy-cache': 'HIT',
      'x-request-id': 'req_1',
      'retry-after': '3',
      'x-ratelimit-remaining-tokens': '7',
    }),
  )
  expect(Object.fromEntries(returned)).toEqual({
    'content-type': 'application/json',
    'retry-after': '3',
    'x-ratelimit-remaining-tokens': '7',
    'x-upstream-request-id': 'req_1',
  })
})

const ask = (bodyText: string) => askForUsage({ bodyText, body: JSON.parse(bodyText) })

test('usage is always asked for, and everything else stays as the client wrote it', () => {
  expect(ask('{"seed": 1.50,"stream":true}\n')).toBe(
    '{"seed": 1.50,"stream":true,"stream_options":{"include_usage":true}}',
  )
  expect(ask('{"stream_options":{"include_usage":true},"a":1.0}')).toBe(
    '{"stream_options":{"include_usage":true},"a":1.0}',
  )
  expect(JSON.parse(ask('{"stream_options":{"x":1},"a":1}'))).toEqual({
    stream_options: { x: 1, include_usage: true },
    a: 1,
  })
  expect(JSON.parse(ask('{"stream_options":null}'))).toEqual({ stream_options: { include_usage: true } })
  const inexact = '{"stream_options":{},"seed":12345678901234567890}'
  expect(ask(inexact)).toBe(inexact)
})

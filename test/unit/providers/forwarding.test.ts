import { expect, test } from 'vitest'
import {
  AGGREGATOR_HEADERS,
  createRequestHeaders,
  pickForwardedHeaders,
  pickReturnedHeaders,
} from '../../../src/providers/forwarded-headers.ts'
import { clientHeadersOf } from '../../../src/providers/keyed-providers.ts'
import { requestStreamUsage } from '../../../src/providers/openai-compatible.ts'
import { SEEDED_VENDORS } from '../../harness/vendors.ts'

function headersOf(provider: string): readonly string[] {
  const vendor = SEEDED_VENDORS.find(provider)
  return vendor ? clientHeadersOf(vendor) : AGGREGATOR_HEADERS
}

const everything = new Headers({
  authorization: 'Bearer lgw_proj_x',
  cookie: 'a=b',
  'x-api-key': 'k',
  connection: 'close, x-only-here',
  'x-forwarded-for': '192.0.2.1',
  'x-proxy-cache-ttl': '3',
  'x-foo': 'invented',
  'user-agent': 'OpenAI/JS',
  'X-Title': 'App',
  'HTTP-Referer': 'https://app.example',
  'OpenAI-Organization': 'org-1',
  'OpenAI-Project': 'proj-1',
  'OpenAI-Beta': 'assistants=v2',
  'anthropic-beta': 'context-1m',
  'anthropic-version': '2023-06-01',
  'Idempotency-Key': 'once',
})

test.each([
  [
    'openai',
    [
      ['idempotency-key', 'project-7-once'],
      ['openai-beta', 'assistants=v2'],
      ['openai-organization', 'org-1'],
      ['openai-project', 'proj-1'],
    ],
  ],
  [
    'anthropic',
    [
      ['anthropic-beta', 'context-1m'],
      ['anthropic-version', '2023-06-01'],
      ['idempotency-key', 'project-7-once'],
    ],
  ],
  ['groq', [['idempotency-key', 'project-7-once']]],
  [
    'aggregator',
    [
      ['anthropic-beta', 'context-1m'],
      ['anthropic-version', '2023-06-01'],
      ['http-referer', 'https://app.example'],
      ['idempotency-key', 'project-7-once'],
      ['x-title', 'App'],
    ],
  ],
] as const)('forwards the headers that %s documents, sorted and in lower case, and nothing else', (kind, expected) => {
  expect(pickForwardedHeaders(everything, headersOf(kind), 7)).toEqual(expected)
})

test('no header of the client replaces one of the proxy', () => {
  const written = createRequestHeaders({ headers: everything, stream: true }, headersOf('groq'), 7)
  expect(Object.fromEntries(written)).toEqual({
    'idempotency-key': 'project-7-once',
    'user-agent': 'model-proxy',
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
  })
})

test('returns the upstream’s headers that concern the client, and no others', () => {
  const returned = pickReturnedHeaders(
    new Headers({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'set-cookie': 'a=b',
      'x-proxy-cache': 'HIT',
      'x-request-id': 'req_1',
      'retry-after': '3',
      'x-ratelimit-remaining-tokens': '7',
      'access-control-allow-origin': '*',
      'openai-organization': 'org-of-the-operator',
      'anthropic-organization-id': 'id',
      'cf-ray': 'r',
    }),
  )
  expect(Object.fromEntries(returned)).toEqual({
    'content-type': 'application/json',
    'retry-after': '3',
    'x-ratelimit-remaining-tokens': '7',
    'x-upstream-request-id': 'req_1',
  })
  expect(pickReturnedHeaders(new Headers({ 'request-id': 'req_a' })).get('x-upstream-request-id')).toBe('req_a')
})

const ask = (bodyText: string) => requestStreamUsage({ bodyText, body: JSON.parse(bodyText) })

test('always requests usage, and leaves everything else as the client wrote it', () => {
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

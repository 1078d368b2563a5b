import { expect, test } from 'vitest'
import { FIELD_RULES } from '../../../src/providers/anthropic/field-rules.ts'
import { createConnectionProbe } from '../../../src/providers/connection-probe.ts'
import { applyFieldChanges } from '../../../src/providers/long-body.ts'
import { createOpenAiCompatibleProvider } from '../../../src/providers/openai-compatible.ts'
import type { UpstreamRequest } from '../../../src/providers/upstream.ts'
import { resolveFieldChanges, resolveRejectedLimit } from '../../../src/providers/vendor-fields.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'

test('sends providers with OpenAI’s format the unchanged body, except for the usage request', async () => {
  const fakeProvider = await startFakeProvider()
  const { baseUrl } = fakeProvider
  const limits = {
    connectTimeoutMs: 1_000,
    firstByteTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    maxEventBytes: 1e6,
    maxResponseBytes: 1e6,
  }
  const provider = createOpenAiCompatibleProvider({
    name: 'openai',
    kind: 'openai',
    pricedAs: 'openai',
    projectId: 1,
    baseUrl,
    apiKey: 'k',
    limits,
    probe: createConnectionProbe(),
  })
  const body = {
    ...Object.fromEntries(Object.keys(FIELD_RULES).map(field => [field, { of: field }])),
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    invented_tomorrow: [1.5, null],
  }
  const signal = new AbortController().signal
  const ask = async (fields: Record<string, unknown>) => {
    const sent: Record<string, unknown> = { ...body, ...fields }
    const stream = sent.stream === true
    const bodyText = JSON.stringify(sent)
    const answer = await provider.send({
      endpoint: 'chat',
      bodyText,
      body: sent,
      headers: new Headers(),
      stream,
      signal,
    })
    await answer.body.cancel()
    return { sent, got: fakeProvider.requests.at(-1)?.body }
  }
  const plain = await ask({ stream: false })
  expect(plain.got).toEqual(plain.sent)
  const streamed = await ask({ stream: true, stream_options: { include_obfuscation: false } })
  const stream_options = { include_obfuscation: false, include_usage: true }
  expect(streamed.got).toEqual({ ...streamed.sent, stream_options })
  await fakeProvider.stop()
})

const UNKNOWN = {
  outputLimits: null,
  acceptsUsageOption: true,
  acceptsStreamOptions: true,
  enforcesMaxPrice: false,
}
const asked = (body: Record<string, unknown>, more: object = {}): UpstreamRequest => {
  const head = { endpoint: 'chat' as const, headers: new Headers(), stream: false, signal: AbortSignal.timeout(9_000) }
  return { ...head, body, bodyText: JSON.stringify(body), ...more }
}

test.each([
  [{ max_tokens: 9 }, null, { max_completion_tokens: 9 }],
  [{ max_completion_tokens: 9, max_tokens: null }, null, { max_tokens: 9 }],
  [{ max_tokens: 9 }, ['max_completion_tokens', 'max_tokens'], {}],
  [{ max_completion_tokens: 9 }, ['max_tokens'], { max_tokens: 9, max_completion_tokens: undefined }],
  [{ max_tokens: 9 }, ['max_completion_tokens'], { max_completion_tokens: 9, max_tokens: undefined }],
  [{ max_tokens: 7, max_completion_tokens: 9 }, null, {}],
  [{}, null, {}],
] as const)('changes the limits %j for a provider that accepts %j: %j', (body, outputLimits, expected) => {
  expect(resolveFieldChanges(asked(body), { ...UNKNOWN, outputLimits })).toStrictEqual(expected)
  expect(resolveFieldChanges(asked(body, { endpoint: 'completions' }), { ...UNKNOWN, outputLimits })).toEqual({})
})

test('omits stream_options for a provider that does not accept it', () => {
  const request = asked({ stream: true, stream_options: { include_usage: true } })
  expect(resolveFieldChanges(request, UNKNOWN)).toEqual({})
  expect(resolveFieldChanges(request, { ...UNKNOWN, acceptsStreamOptions: false })).toStrictEqual({
    stream_options: undefined,
  })
})

test('changed fields leave the others as they were written, in a long body, too', async () => {
  const bodyText = '{"max_tokens":9,"seed":12345678901234567890,"top_p":0.5,"drop":1}'
  const changes = { max_completion_tokens: 9, drop: undefined }
  const written = '{"max_tokens":9,"seed":12345678901234567890,"top_p":0.5,"max_completion_tokens":9}'
  const body = JSON.parse(bodyText)
  const short = await applyFieldChanges(asked(body, { bodyText }), changes)
  expect([short.bodyText, short.body]).toEqual([
    written,
    { max_tokens: 9, seed: body.seed, top_p: 0.5, max_completion_tokens: 9 },
  ])
  expect(short.body).not.toHaveProperty('drop')
  const long = await applyFieldChanges(asked(body, { bodyBytes: new TextEncoder().encode(bodyText) }), changes)
  expect(new TextDecoder().decode(long.bodyBytes)).toBe(written)
})

const ADDED = { max_tokens: 9 }
test.each([
  ['extra_forbidden: ["body", "max_completion_tokens"]', { max_completion_tokens: undefined }],
  ["Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", { max_tokens: undefined }],
  ['Setting max_tokens and max_completion_tokens at the same time is not supported.', { max_tokens: undefined }],
  ['Unknown name: max_tokens', { max_tokens: undefined }],
  // The value of the limit is invalid. Without the field, no limit would apply.
  ['Invalid max_tokens value, the valid range is [1, 8192]', null],
  ['Unsupported parameter: seed', null],
])('after the rejection %j, sends the request with %j', (rejection, expected) => {
  expect(resolveRejectedLimit(rejection, ADDED)).toEqual(expected)
  // The proxy added no limit, or it replaced the name of the client's limit.
  expect(resolveRejectedLimit(rejection, {})).toBeNull()
  expect(resolveRejectedLimit(rejection, { ...ADDED, max_completion_tokens: undefined })).toBeNull()
})

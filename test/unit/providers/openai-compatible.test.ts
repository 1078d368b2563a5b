import { expect, test } from 'vitest'
import { FIELD_RULES } from '../../../src/providers/anthropic/field-rules.ts'
import { createConnectionProbe } from '../../../src/providers/call-upstream.ts'
import { createOpenAiCompatibleProvider } from '../../../src/providers/openai-compatible.ts'
import { startStandin } from '../../standin/server.ts'

test('providers that speak OpenAI’s format get a body as it was sent, but for the usage that is asked for', async () => {
  const standin = await startStandin()
  const { baseUrl } = standin
  const limits = {
    connectTimeoutMs: 1_000,
    firstByteTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    maxEventBytes: 1e6,
    maxAnswerBytes: 1e6,
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
    const answer = await provider.ask({
      endpoint: 'chat',
      bodyText,
      body: sent,
      headers: new Headers(),
      stream,
      signal,
    })
    await answer.body.cancel()
    return { sent, got: standin.requests.at(-1)?.body }
  }
  const plain = await ask({ stream: false })
  expect(plain.got).toEqual(plain.sent)
  const streamed = await ask({ stream: true, stream_options: { include_obfuscation: false } })
  const stream_options = { include_obfuscation: false, include_usage: true }
  expect(streamed.got).toEqual({ ...streamed.sent, stream_options })
  await standin.stop()
})

/** Recorded exchanges are the same through the proxy: as a miss, as a hit, and as a stream for a plain answer and the other way round. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkExchange } from '../../scripts/exchanges/check-exchange.ts'
import { readExchanges } from '../../scripts/exchanges/exchange.ts'
import { startRecorder } from '../../scripts/exchanges/recorder.ts'
import { type ReplayUpstream, startReplayUpstream } from '../../scripts/exchanges/replay-upstream.ts'
import { describeOnce } from '../harness/backends.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { startStandin } from '../standin/server.ts'

const recorded = await readExchanges()

describeOnce('recorded exchanges', backend => {
  let upstream: ReplayUpstream
  let proxy: TestProxy
  let key: string

  beforeAll(async () => {
    upstream = startReplayUpstream(recorded.map(({ exchange }) => exchange))
    const { baseUrl } = upstream
    proxy = await startProxy({
      stores: await backend.open(),
      environment: {
        AGGREGATOR_BASE_URL: `${baseUrl}/v1`,
        AGGREGATOR_API_KEY: 'replay',
        OPENAI_BASE_URL: `${baseUrl}/v1`,
        ANTHROPIC_BASE_URL: baseUrl,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        UPSTREAM_MAX_RETRIES: '0',
      },
    })
    key = await proxy.createKey({ project: 'replay', type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, 'replay', provider, 'replay')
  })
  afterAll(() => Promise.all([proxy.stop(), upstream.stop()]))

  test.each(recorded)('$name', async ({ exchange }) => {
    const through = proxy.baseUrl.replace(/\/v1$/, '')
    expect(await checkExchange(exchange, { direct: upstream.baseUrl, through, key })).toEqual([])
  })

  test('a difference would be told', async () => {
    const [first] = recorded
    if (!first) throw new Error('Nothing was recorded')
    const { exchange } = first
    const other = startReplayUpstream([{ ...exchange, response: { ...exchange.response, body: '{"id":"other"}' } }])
    const through = proxy.baseUrl.replace(/\/v1$/, '')
    const found = await checkExchange(exchange, { direct: other.baseUrl, through, key })
    await other.stop()
    expect(found.map(difference => difference.split(':')[0])).toEqual(['miss', 'hit', 'counterpart'])
  })
})

test('every family is there, plain and streamed', () => {
  const forms = new Set(
    recorded.map(({ exchange }) => `${exchange.request.path} ${exchange.request.body.stream === true}`),
  )
  const families = ['/v1/chat/completions', '/v1/responses', '/v1/messages']
  expect(forms).toEqual(new Set(families.flatMap(path => [`${path} true`, `${path} false`])))
})

describe('recording', () => {
  const SECRET = 'sk-proj-0123456789abcdefghij'
  const telling = { error: { message: `Incorrect key ${SECRET} of org-AbCdEf0123456789`, code: 'invalid_api_key' } }

  test('keeps neither keys nor accounts, and gives the client its answer', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-proxy-record-'))
    const standin = await startStandin()
    const files: string[] = []
    const recorder = startRecorder({
      upstream: standin.baseUrl.replace('/v1', ''),
      provider: 'openai',
      folder,
      onWritten: file => files.push(file),
    })
    const ask = async (body: Record<string, unknown>) => {
      const response = await fetch(`${recorder.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${SECRET}`,
          'content-type': 'application/json',
          'openai-organization': 'org-x',
        },
        body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: `Hello ${SECRET}` }], ...body }),
      })
      return response.text()
    }
    expect(await ask({})).toContain('chat.completion')
    expect(await ask({ stream: true })).toContain('[DONE]')
    standin.script({
      kind: 'raw',
      status: 401,
      headers: { 'content-type': 'application/json', 'openai-organization': 'org-x', 'set-cookie': 'a=b' },
      parts: [JSON.stringify(telling)],
    })
    expect(await ask({ seed: 1 })).toContain(SECRET)
    expect(standin.requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(`Bearer ${SECRET}`))
    await Promise.all([recorder.stop(), standin.stop()])
    const exchanges = await readExchanges(folder)
    const texts = await Promise.all(files.map(file => Bun.file(file).text()))
    await rm(folder, { recursive: true })
    expect(exchanges.map(({ exchange }) => exchange.response.status).sort()).toEqual([200, 200, 401])
    for (const text of texts) expect(text).not.toMatch(/sk-proj-0123|org-[xA]|set-cookie|authorization/i)
  })
})

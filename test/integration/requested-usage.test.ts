/** Usage in streams for clients that request it as OpenRouter's do, from every provider. */
import { beforeAll, expect, test } from 'vitest'
import { readEvents } from '../clients/streams/read-events.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { type Answer, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const MODELS = {
  aggregator: 'openai/gpt-4o-mini',
  openai: 'gpt-4o-mini',
  groq: 'llama-3.3-70b-versatile',
  anthropic: 'claude-haiku-4-5',
}
const WHO = Object.keys(MODELS) as (keyof typeof MODELS)[]
const WISH = { usage: { include: true } }

/** Endpoint, headers and fields of a request for a stream. */
interface StreamOptions {
  base?: string
  agent?: string
  fields?: object
}

const TOLD: Record<string, StreamOptions> = {
  'the field of OpenRouter’s': { fields: WISH },
  'that field, beside OpenAI’s own switched off': { fields: { ...WISH, stream_options: { include_usage: false } } },
  'OpenRouter’s address': { base: '/api/v1' },
  'OpenRouter’s provider of the AI SDK': {
    agent: 'ai-sdk/openrouter/2.3.1 ai-sdk/provider-utils/4.0.1 runtime/bun/1.4.5',
  },
  'OpenRouter’s own package': { agent: 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk' },
}
const UNTOLD: Record<string, StreamOptions> = {
  nothing: {},
  'the field switched off': { fields: { usage: { include: false } } },
  'a field of its name that says nothing': { fields: { usage: null } },
  'another’s package': { agent: 'OpenAI/JS 6.46.0' },
}

describeEmbedded('usage in streams', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let key: string
  let questions = 0

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project', project: 'usage' })
    for (const name of ['openai', 'groq', 'anthropic'])
      await storeKey(proxy.stores, 'usage', name, `sk-${name}-0123456789`)
  })

  async function stream(body: object, { base = '/v1', agent }: StreamOptions, as = key): Promise<Answer> {
    const response = await fetch(`${new URL(proxy.baseUrl).origin}${base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json', 'user-agent': agent ?? 'curl/8' },
      body: JSON.stringify(body),
    })
    return readAnswer(response)
  }

  const tellsUsage = ({ text }: Answer) =>
    (readEvents(text) as { usage?: { total_tokens?: number } | null }[]).filter(chunk => chunk.usage)

  test.each(WHO.flatMap(who => Object.keys(TOLD).map(how => [how, who] as const)))('%s, of %s', async (how, who) => {
    const asking = TOLD[how] ?? {}
    const body = question(`Usage ${questions++}`, { model: MODELS[who], stream: true, ...asking.fields })
    const answers = [await stream(body, asking), await stream(body, asking)]
    expect(answers.map(({ status, cache }) => `${status} ${cache}`)).toEqual(['200 MISS', '200 HIT'])
    for (const answer of answers) {
      expect(tellsUsage(answer)).toEqual([
        expect.objectContaining({ usage: expect.objectContaining({ total_tokens: expect.any(Number) }) }),
      ])
    }
  })

  test.each(WHO.flatMap(who => Object.keys(UNTOLD).map(how => [how, who] as const)))('%s, of %s', async (how, who) => {
    const asking = UNTOLD[how] ?? {}
    const body = question(`Usage ${questions++}`, { model: MODELS[who], stream: true, ...asking.fields })
    // The unknown field is OpenAI's to reject, so the proxy forwards it.
    for (const answer of [await stream(body, asking), await stream(body, asking)])
      expect(tellsUsage(answer)).toEqual([])
  })

  test('one entry serves clients that request usage, those that do not, and test keys', async () => {
    const body = question('Who is told?', { stream: true })
    const withUsage = await stream(body, { base: '/api/v1' })
    const withoutUsage = await stream(body, {})
    const again = await stream(body, { base: '/api/v1' })
    expect([withUsage, withoutUsage, again].map(({ cache }) => cache)).toEqual(['MISS', 'HIT', 'HIT'])
    expect([withUsage, withoutUsage, again].map(answer => tellsUsage(answer).length)).toEqual([1, 0, 1])
    const testKey = await proxy.createKey({ type: 'test', project: 'usage' })
    expect(tellsUsage(await stream({ ...body, ...WISH }, {}, testKey))).toHaveLength(1)
  })

  test.each([1, 40_000])(
    'direct vendors get requests without the field that they would reject (%i times)',
    async times => {
      const ask = async (fields: object, model: string) => {
        const body = question('Exactly. '.repeat(times) + questions++, { model, seed: 7, ...fields })
        return stream(body, {})
      }
      for (const stream of [true, false]) {
        await ask({ ...WISH, stream }, MODELS.openai)
        const { body } = upstreams.openai.requests.at(-1) ?? {}
        expect(body).toMatchObject({ seed: 7, model: MODELS.openai })
        expect(body).not.toHaveProperty('usage')
        await ask({ ...WISH, stream }, MODELS.aggregator)
        expect(upstreams.aggregator.requests.at(-1)?.body).toMatchObject(WISH)
        await ask({ usage: 'metered', stream }, MODELS.openai)
        expect(upstreams.openai.requests.at(-1)?.body).toMatchObject({ usage: 'metered' })
      }
    },
  )
})

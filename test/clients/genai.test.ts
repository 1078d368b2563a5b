/** Google's package @google/genai, with models of several vendors. */
import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI, Type } from '@google/genai'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { callWeather } from './weather-tool.ts'

const upstreams = duringTests(startUpstreams)

const WEATHER = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'The weather of a place.',
      parameters: { type: Type.OBJECT, properties: { place: { type: Type.STRING } }, required: ['place'] },
    },
  ],
}
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describeOnce('Google’s package', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let client: GoogleGenAI
  let key: string
  let root: string

  beforeAll(async () => {
    root = proxy.rootUrl
  })
  beforeEach(async () => {
    upstreams.reset()
    const project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'anthropic', 'sk-ant-own')
    client = connect(key)
  })

  function connect(apiKey: string, apiVersion?: string): GoogleGenAI {
    return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: root, ...(apiVersion && { apiVersion }) } })
  }

  const lastChat = () => upstreams.aggregator.requests.at(-1)

  describe.each([
    ['openai/gpt-4o-mini', 'openrouter'],
    ['gemini-2.5-flash', 'openrouter'],
    ['claude-haiku-4-5', 'anthropic'],
  ])('with %s', (model, provider) => {
    test('generates text, and again from the cache, plain and streamed', async () => {
      const contents = `Hello ${crypto.randomUUID()}`
      const first = await client.models.generateContent({ model, contents })
      expect(first.text).toMatch(/.{10}/)
      expect(first.candidates?.[0]).toMatchObject({ finishReason: 'STOP', content: { role: 'model' }, index: 0 })
      const { promptTokenCount = 0, candidatesTokenCount = 0, totalTokenCount } = first.usageMetadata ?? {}
      expect(promptTokenCount).toBeGreaterThan(0)
      expect(candidatesTokenCount).toBeGreaterThan(0)
      expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount)
      const headers = first.sdkHttpResponse?.headers
      expect([headers?.['x-proxy-cache'], headers?.['x-proxy-provider']]).toEqual(['MISS', provider])
      const again = await client.models.generateContent({ model, contents })
      expect([again.sdkHttpResponse?.headers?.['x-proxy-cache'], again.text]).toEqual(['HIT', first.text])
      expect(again.responseId).toBe(first.responseId)
      const { text, last, cache } = await stream(model, contents)
      expect([text, cache]).toEqual([first.text, 'HIT'])
      expect(last?.usageMetadata).toEqual(first.usageMetadata)
    })

    test('streams text, and again from the cache, plain', async () => {
      const contents = `Hello ${crypto.randomUUID()}`
      const { text, chunks, last, cache } = await stream(model, contents)
      expect([text.length > 10, chunks > 2, cache]).toEqual([true, true, 'MISS'])
      expect(last?.candidates?.[0]?.finishReason).toBe('STOP')
      expect(last?.usageMetadata?.promptTokenCount).toBeGreaterThan(0)
      const again = await client.models.generateContent({ model, contents })
      expect([again.sdkHttpResponse?.headers?.['x-proxy-cache'], again.text]).toEqual(['HIT', text])
    })

    test('calls a function and reads its response, plain and streamed', async () => {
      callWeather(upstreams)
      const question: Content = { role: 'user', parts: [{ text: `Weather in Linz? ${crypto.randomUUID()}` }] }
      const config = { tools: [WEATHER] }
      const first = await client.models.generateContent({ model, contents: [question], config })
      const [call] = first.functionCalls ?? []
      expect(call).toMatchObject({ name: 'get_weather', args: { place: 'Linz' }, id: expect.any(String) })
      const turn = first.candidates?.[0]?.content as Content
      const result = { functionResponse: { id: call?.id, name: call?.name, response: { degrees: 12 } } }
      const contents = [question, turn, { role: 'user', parts: [result] }] as Content[]
      const second = await client.models.generateContent({ model, contents, config })
      expect(second.text).toMatch(/.{10}/)

      const chat = client.chats.create({ model, config })
      const calls = []
      for await (const chunk of await chat.sendMessageStream({ message: `Weather? ${crypto.randomUUID()}` }))
        calls.push(...(chunk.functionCalls ?? []))
      expect(calls).toMatchObject([{ name: 'get_weather', args: { place: 'Linz' } }])
      const response = { functionResponse: { name: 'get_weather', response: { degrees: 12 } } }
      const answer = await chat.sendMessage({ message: [response] })
      expect(answer.text).toMatch(/.{10}/)
    })
  })

  test('sends the request as a chat request', async () => {
    await client.models.generateContent({
      model: 'openai/gpt-4o-mini',
      contents: [
        { role: 'user', parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }] },
      ],
      config: {
        systemInstruction: 'Be brief.',
        temperature: 0.5,
        topP: 0.9,
        maxOutputTokens: 900,
        stopSequences: ['END'],
        seed: 7,
        responseMimeType: 'application/json',
        responseSchema: { type: Type.OBJECT, properties: { name: { type: Type.STRING, nullable: true } } },
        tools: [WEATHER],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
        thinkingConfig: { thinkingBudget: 0 },
      },
    })
    expect(lastChat()?.body).toEqual({
      model: 'openai/gpt-4o-mini',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 900,
      max_tokens: 900,
      stop: ['END'],
      seed: 7,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'response',
          schema: { type: 'object', properties: { name: { type: ['string', 'null'] } } },
        },
      },
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The weather of a place.',
            parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
          },
        },
      ],
    })
    expect(JSON.stringify(lastChat())).not.toContain(key)
  })

  test('counts tokens', async () => {
    const counted = await client.models.countTokens({ model: 'openai/gpt-4o-mini', contents: 'How many tokens?' })
    expect(counted.totalTokens).toBeGreaterThan(3)
    expect(counted.totalTokens).toBeLessThan(20)
  })

  test('embeds texts, and again from the cache', async () => {
    const contents = [`One ${crypto.randomUUID()}`, `Two ${crypto.randomUUID()}`]
    const config = { outputDimensionality: 64, taskType: 'RETRIEVAL_QUERY' }
    const request = { model: 'openai/text-embedding-3-small', contents, config }
    const { embeddings } = await client.models.embedContent(request)
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([64, 64])
    expect(embeddings?.[0]?.values).not.toEqual(embeddings?.[1]?.values)
    expect(lastChat()?.body).toMatchObject({ input: contents, dimensions: 64 })
    const sent = upstreams.aggregator.requests.length
    const again = await client.models.embedContent(request)
    expect(again.embeddings).toEqual(embeddings)
    expect(upstreams.aggregator.requests).toHaveLength(sent)
  })

  test.each(['v1', 'v1beta'])('lists models of %s, and reads one', async version => {
    const { models } = connect(key, version)
    const names: (string | undefined)[] = []
    for await (const { name } of await models.list()) names.push(name)
    expect(names).toContain('models/openai/gpt-4o-mini')
    const model = await models.get({ model: 'openai/gpt-4o-mini' })
    expect(model).toMatchObject({ name: 'models/openai/gpt-4o-mini', inputTokenLimit: 128_000 })
    const unknown = models.get({ model: 'nonsense' })
    await expect(unknown).rejects.toMatchObject({ status: 404, message: expect.stringContaining('NOT_FOUND') })
    const { text } = await models.generateContent({ model: 'openai/gpt-4o-mini', contents: 'Hi.' })
    expect(text).toMatch(/.{10}/)
  })

  test('reads errors in Google’s form', async () => {
    const contents = 'Hi.'
    const invalid = connect('lgw_proj_wrong').models.generateContent({ model: 'openai/gpt-4o-mini', contents })
    await expect(invalid).rejects.toThrow(ApiError)
    await expect(invalid).rejects.toMatchObject({ status: 401, message: expect.stringContaining('UNAUTHENTICATED') })
    await expect(client.models.generateContent({ model: 'nonsense', contents })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('NOT_FOUND'),
    })
    upstreams.aggregator.script(() => ({ kind: 'error', status: 400, message: 'No such thing.' }))
    const rejected = client.models.generateContentStream({ model: 'openai/gpt-4o-mini', contents })
    await expect(rejected).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/No such thing.*INVALID_ARGUMENT/),
    })
  })

  async function stream(model: string, contents: string) {
    let text = ''
    let chunks = 0
    let last = null
    let cache: string | undefined
    for await (const chunk of await client.models.generateContentStream({ model, contents })) {
      text += chunk.text ?? ''
      chunks++
      last = chunk
      cache ??= chunk.sdkHttpResponse?.headers?.['x-proxy-cache']
    }
    return { text, chunks, last, cache }
  }
})

/** The openai package's client for Azure: its paths, its header and all of its endpoints. */
import OpenAI, { AzureOpenAI, toFile } from 'openai'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

describeOnce('Azure’s client', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let root: string
  let apiKey: string
  let client: AzureOpenAI

  beforeAll(async () => {
    root = proxy.rootUrl
    apiKey = await proxy.createKey({ project: 'azure', type: 'project' })
    await storeKey(proxy.stores, 'azure', 'openai', 'sk-own')
    client = new AzureOpenAI({ endpoint: root, apiKey, apiVersion: '2025-04-01-preview', maxRetries: 0 })
  })
  beforeEach(() => upstreams.reset())

  const paths = () => upstreams.openai.requests.map(({ path }) => path)
  const model = 'gpt-4o-mini'
  const sound = () => toFile(Buffer.alloc(2_000, 7), 'hello.wav', { type: 'audio/wav' })

  test('chats, plain and streamed, under its deployment', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello, Azure' }]
    const plain = await client.chat.completions.create({ model, messages })
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe(plain.choices[0]?.message.content)
    expect(upstreams.openai.requests.map(({ path, body }) => [path, (body as { model: string }).model])).toEqual([
      ['/v1/chat/completions', model],
    ])
    expect(upstreams.openai.requests[0]?.headers['api-key']).toBeUndefined()
  })

  test('names a model with a slash unchanged, with its own address or that of the deployment', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello, aggregator' }]
    const slashed = 'openai/gpt-4o-mini'
    expect((await client.chat.completions.create({ model: slashed, messages })).choices).toHaveLength(1)
    const input = 'a'
    const embedded = await client.embeddings.create({ model: 'openai/text-embedding-3-small', input })
    expect(embedded.data).toHaveLength(1)
    const baseURL = `${root}/openai/deployments/${slashed}`
    const deployed = new OpenAI({ baseURL, apiKey, defaultHeaders: { 'api-key': apiKey }, maxRetries: 0 })
    expect((await deployed.chat.completions.create({ model: slashed, messages })).choices).toHaveLength(1)
    expect(upstreams.openai.requests).toEqual([])
    expect(upstreams.aggregator.requests.map(({ path, body }) => [path, (body as { model: string }).model])).toEqual([
      ['/v1/chat/completions', slashed],
      ['/v1/embeddings', 'openai/text-embedding-3-small'],
    ])
  })

  test('requests responses, embeddings, images, speech, moderations and models', async () => {
    const response = await client.responses.create({ model, input: 'Hello, Azure' })
    expect((await client.responses.retrieve(response.id)).id).toBe(response.id)
    expect((await client.responses.inputTokens.count({ model, input: 'Hi' })).input_tokens).toBeGreaterThan(0)
    expect((await client.embeddings.create({ model: 'text-embedding-3-small', input: 'a' })).data).toHaveLength(1)
    expect((await client.images.generate({ model: 'gpt-image-1', prompt: 'a point' })).data).toHaveLength(1)
    const image = await toFile(Buffer.from([0x89, 0x50, 0x4e, 0x47]), 'point.png', { type: 'image/png' })
    expect((await client.images.edit({ model: 'gpt-image-1', image, prompt: 'bigger' })).data).toHaveLength(1)
    const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello' })
    expect((await speech.arrayBuffer()).byteLength).toBe(10_000)
    expect((await client.moderations.create({ input: 'azure' })).results).toHaveLength(1)
    expect((await client.models.list()).data.length).toBeGreaterThan(0)
    expect(paths()).not.toContainEqual(expect.stringContaining('/openai/'))
  })

  test('sends audio, files and batches', async () => {
    const heard = await client.audio.transcriptions.create({ model: 'whisper-1', file: await sound() })
    expect(heard.text).toBe('Heard 2000 bytes.')
    const translated = await client.audio.translations.create({ model: 'whisper-1', file: await sound() })
    expect(translated.text).toBe('Heard 2000 bytes.')
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }
    const line = `${JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body })}\n`
    const file = await client.files.create({ file: await toFile(Buffer.from(line), 'in.jsonl'), purpose: 'batch' })
    const batch = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    })
    expect((await client.batches.retrieve(batch.id)).id).toBe(batch.id)
    expect(await (await client.files.content(file.id)).text()).toBe(line)
  })

  test('a body without a model uses the deployment’s', async () => {
    const at = (path: string) => `${root}/openai/deployments/${path}?api-version=2024-10-21`
    const headers = { 'api-key': apiKey }
    const spoken = await fetch(at('tts-1/audio/speech'), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"voice":"alloy","input":"No model"}',
    })
    expect(spoken.status).toBe(200)
    const form = new FormData()
    form.append('file', await sound())
    const heard = await fetch(at('whisper-1/audio/transcriptions'), { method: 'POST', headers, body: form })
    expect(await heard.json()).toMatchObject({ text: 'Heard 2000 bytes.' })
    const [speech, transcription] = upstreams.openai.requests
    expect(speech?.body).toEqual({ model: 'tts-1', voice: 'alloy', input: 'No model' })
    expect(transcription?.bodyText).toContain('name="model"\r\n\r\nwhisper-1')
    await spoken.body?.cancel()
  })

  test('the plain package at Azure’s v1 address', async () => {
    const plain = new OpenAI({ baseURL: `${root}/openai/v1/`, apiKey, maxRetries: 0 })
    const answer = await plain.chat.completions.create({ model, messages: [{ role: 'user', content: 'v1' }] })
    expect(answer.choices).toHaveLength(1)
    expect(paths()).toEqual(['/v1/chat/completions'])
    const wrong = new OpenAI({ baseURL: `${root}/openai/v1/`, apiKey: 'nobody', maxRetries: 0 })
    await expect(wrong.models.list()).rejects.toThrow('401')
  })
})

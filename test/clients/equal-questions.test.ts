/**
 * One prompt in the encodings of different clients, a text or parts, with or without an image: another encoding of the same prompt gets the
 * cached response.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import type { ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { generateText, type LanguageModel } from 'ai'
import OpenAI from 'openai'
import type { ChatCompletionContentPart } from 'openai/resources/chat/completions'
import type { ResponseInputContent } from 'openai/resources/responses/responses'
import { beforeEach, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const QUESTION = 'How do I bake sourdough bread at home?'
const REWORDED = 'How can I bake sourdough bread at home?'
const OF_IMAGE = 'What is in this picture?'
const OF_IMAGE_REWORDED = "what's in this picture"
const OF_IMAGE_OTHER = 'Who is in this picture?'
const PNG = Buffer.from('a picture '.repeat(10_000)).toString('base64')
const OTHER_PNG = Buffer.from('a painting '.repeat(10_000)).toString('base64')
const MARK = { cache_control: { type: 'ephemeral' as const } }

const chatText = (text: string): ChatCompletionContentPart => ({ type: 'text', text })
const chatImage = (url: string): ChatCompletionContentPart => ({ type: 'image_url', image_url: { url } })
const png = (data: string) => `data:image/png;base64,${data}`
const inputText = (text: string): ResponseInputContent => ({ type: 'input_text', text })
const inputImage = (data: string): ResponseInputContent => ({
  type: 'input_image',
  detail: 'auto',
  image_url: png(data),
})
const block = (text: string): ContentBlockParam => ({ type: 'text', text })
const image = (data: string): ContentBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
})

describeBackends('a question in another encoding', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let key: string
  let openai: OpenAI
  let anthropic: Anthropic
  let seen: (string | null)[]
  let sdk: Record<'chat' | 'responses' | 'messages', LanguageModel>

  beforeEach(async () => {
    const project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, `sk-${vendor}`)
    seen = []
    const watch = Object.assign(
      async (...[input, init]: Parameters<typeof fetch>) => {
        const response = await fetch(input, init)
        seen.push(response.headers.get('x-proxy-cache'))
        return response
      },
      { preconnect: fetch.preconnect },
    )
    const to = { baseURL: proxy.baseUrl, apiKey: key, fetch: watch }
    openai = new OpenAI({ ...to, maxRetries: 0 })
    const address = proxy.rootUrl
    // The version that the AI SDK sends. It is part of the cache key, because it can change the response.
    const defaultHeaders = { 'anthropic-version': '2023-06-01' }
    anthropic = new Anthropic({ ...to, baseURL: address, maxRetries: 0, defaultHeaders })
    sdk = {
      chat: createOpenAICompatible({ name: 'proxy', ...to }).chatModel('gpt-4o-mini'),
      responses: createOpenAI(to)('gpt-4o-mini'),
      messages: createAnthropic(to)('claude-haiku-4-5'),
    }
  })

  /** Sends the requests one after the other. Returns X-Proxy-Cache of each. */
  async function cacheOf(...asks: (() => PromiseLike<unknown>)[]): Promise<(string | null)[]> {
    for (const ask of asks) {
      await ask()
      await proxy.settle()
    }
    return seen
  }

  const chat = (content: string | ChatCompletionContentPart[]) => () =>
    openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
  const respond = (content: string | ResponseInputContent[]) => () =>
    openai.responses.create({ model: 'gpt-4o-mini', input: [{ role: 'user', content }] })
  const message = (content: string | ContentBlockParam[]) => () =>
    anthropic.messages.create({ model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user', content }] })
  const generate = (door: keyof typeof sdk, prompt: string) => () => {
    const limit = door === 'messages' ? { maxOutputTokens: 100 } : {}
    return generateText({ model: sdk[door], prompt, maxRetries: 0, ...limit })
  }

  test('is a hit in chat', async () => {
    const requests = [
      chat(QUESTION),
      chat([chatText(QUESTION)]),
      chat([chatText(REWORDED)]),
      generate('chat', REWORDED),
    ]
    expect(await cacheOf(...requests)).toEqual(['MISS', ...Array(3).fill('HIT-SEMANTIC')])
  })

  test('is a hit in responses', async () => {
    const text = (input: string) => () => openai.responses.create({ model: 'gpt-4o-mini', input })
    const requests = [
      text(QUESTION),
      respond(QUESTION),
      respond([inputText(REWORDED)]),
      generate('responses', REWORDED),
    ]
    expect(await cacheOf(...requests)).toEqual(['MISS', ...Array(3).fill('HIT-SEMANTIC')])
  })

  test('is a hit in messages', async () => {
    const marked = message([{ type: 'text', text: REWORDED, citations: null, ...MARK }])
    const requests = [message(QUESTION), message([block(QUESTION)]), marked, generate('messages', REWORDED)]
    expect(await cacheOf(...requests)).toEqual(['MISS', ...Array(3).fill('HIT-SEMANTIC')])
  })

  test('is a hit after a response as an SDK returns it', async () => {
    const turns = async (question: string, isEchoed: boolean) => {
      const messages = [{ role: 'user' as const, content: 'I like bread.' }]
      const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
      const message = choices[0]?.message
      const content = message?.content ?? ''
      const answer = isEchoed && message ? message : { role: 'assistant' as const, content }
      const next = { role: 'user' as const, content: question }
      await openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [...messages, answer, next] })
    }
    const found = await cacheOf(
      () => turns(QUESTION, true),
      () => turns(REWORDED, false),
    )
    expect(found).toEqual(['MISS', 'MISS', 'HIT', 'HIT-SEMANTIC'])
  })

  test.each([
    ['chat', (text: string, data: string) => chat([chatText(text), chatImage(png(data))])],
    ['responses', (text: string, data: string) => respond([inputText(text), inputImage(data)])],
    ['messages', (text: string, data: string) => message([image(data), block(text)])],
  ])('a question about an equal image may have other words, in %s', async (_, about) => {
    const requests = [about(OF_IMAGE, PNG), about(OF_IMAGE_REWORDED, PNG)]
    const others = [about(OF_IMAGE_REWORDED, OTHER_PNG), about(OF_IMAGE_OTHER, PNG)]
    expect(await cacheOf(...requests, ...others)).toEqual(['MISS', 'HIT-SEMANTIC', 'MISS', 'MISS'])
  })

  test('a link to an image counts unchanged, whatever words it has', async () => {
    const about = (text: string, name: string) => chat([chatImage(`https://a.example/${name}.png`), chatText(text)])
    const requests = [about(OF_IMAGE, 'translate'), about(OF_IMAGE_REWORDED, 'translate'), about(OF_IMAGE, 'Translate')]
    expect(await cacheOf(...requests)).toEqual(['MISS', 'HIT-SEMANTIC', 'MISS'])
  })

  test('several texts differ from one joined text, and the last is not matched in other words', async () => {
    const texts = (...all: string[]) => chat(all.map(chatText))
    const requests = [texts('Use rye.', QUESTION), texts('Use rye.', REWORDED), texts('Use rye.\n', QUESTION)]
    const joined = ['', ' ', '\n', '\n\n'].map(between => chat(`Use rye.${between}${QUESTION}`))
    expect(await cacheOf(...requests, ...joined)).toEqual(Array(7).fill('MISS'))
    const marked: ChatCompletionContentPart = {
      type: 'text',
      text: 'Use rye.',
      prompt_cache_breakpoint: { mode: 'explicit' },
    }
    expect((await cacheOf(chat([marked, chatText(QUESTION)]))).at(-1)).toBe('HIT-SEMANTIC')
  })

  test('an application’s prompt is matched in other words within the same template', async () => {
    const about = (text: string, end = 'Answer in one sentence.') =>
      chat(`You are a helpful assistant of a bakery.\n\nQuestion: ${text}\n\n${end}`)
    const requests = [about(QUESTION), about(REWORDED), about(QUESTION), about(REWORDED, 'Answer in two sentences.')]
    expect(await cacheOf(...requests)).toEqual(['MISS', 'HIT-SEMANTIC', 'HIT', 'MISS'])
  })

  test('a time-dependent question may be in another text of the message', async () => {
    const about = (text: string) => chat([chatText('What is the weather today?'), chatImage(png(PNG)), chatText(text)])
    expect(await cacheOf(about(OF_IMAGE), about(OF_IMAGE_REWORDED))).toEqual(['MISS', 'MISS'])
  })
})

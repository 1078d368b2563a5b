/** Vercel's AI SDK in its last three versions: multi-turn conversations at every endpoint, with models of every provider. */
import * as anthropic7 from '@ai-sdk/anthropic'
import * as anthropic5 from '@ai-sdk/anthropic-5'
import * as anthropic6 from '@ai-sdk/anthropic-6'
import * as openai7 from '@ai-sdk/openai'
import * as openai5 from '@ai-sdk/openai-5'
import * as openai6 from '@ai-sdk/openai-6'
import * as compatible7 from '@ai-sdk/openai-compatible'
import * as compatible5 from '@ai-sdk/openai-compatible-5'
import * as compatible6 from '@ai-sdk/openai-compatible-6'
import type { ContentBlock } from '@anthropic-ai/sdk/resources/messages'
import * as ai7 from 'ai'
import * as ai5 from 'ai-5'
import * as ai6 from 'ai-6'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

// The versions' types differ in parts that this test does not use, so all versions use the types of the newest one.
type Sdk = Pick<typeof ai7, 'generateText' | 'streamText' | 'stepCountIs' | 'tool' | 'jsonSchema'>
type Model = Parameters<typeof ai7.generateText>[0]['model']
type Message = ai7.ModelMessage

interface Version {
  sdk: Sdk
  doors: Record<string, (at: { baseURL: string; apiKey: string }, model: string) => Model>
}

function versionOf(sdk: unknown, openai: unknown, anthropic: unknown, compatible: unknown): Version {
  const { createOpenAI } = openai as typeof openai7
  const { createAnthropic } = anthropic as typeof anthropic7
  const { createOpenAICompatible } = compatible as typeof compatible7
  return {
    sdk: sdk as Sdk,
    doors: {
      // The default of `openai('model')`.
      responses: (at, model) => createOpenAI(at)(model),
      messages: (at, model) => createAnthropic(at)(model),
      chat: (at, model) => createOpenAICompatible({ name: 'proxy', includeUsage: true, ...at }).chatModel(model),
    },
  }
}

const VERSIONS: Record<string, Version> = {
  5: versionOf(ai5, openai5, anthropic5, compatible5),
  6: versionOf(ai6, openai6, anthropic6, compatible6),
  7: versionOf(ai7, openai7, anthropic7, compatible7),
}
const ENDPOINT_CASES = ['responses', 'messages', 'chat']
const MODELS = ['gpt-5-mini', 'openai/gpt-5-mini', 'claude-haiku-4-5', 'llama-3.3-70b-versatile'] as const
const BEFORE = 'First I look at the sky.'

describeOnce('the AI SDK holds conversations', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
  })

  async function connect() {
    const apiKey = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, project, provider, 'sk-own')
    return { baseURL: proxy.baseUrl, apiKey }
  }

  function fakeOf(model: string) {
    if (model.includes('/')) return upstreams.aggregator
    if (model.startsWith('claude')) return upstreams.anthropic
    return model.startsWith('gpt') ? upstreams.openai : upstreams.groq
  }

  /** Scripts the next response: text followed by a tool call. */
  function scriptCall(model: string): void {
    const fakeProvider = fakeOf(model)
    if (fakeProvider === upstreams.anthropic) {
      upstreams.anthropic.scriptOnce({
        kind: 'answer',
        content: [
          { type: 'text', text: BEFORE } as ContentBlock,
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'get_weather',
            input: { place: 'Oslo' },
            caller: { type: 'direct' },
          },
        ],
      })
    } else {
      const call = { name: 'get_weather', arguments: { place: 'Oslo' }, id: 'call_1' }
      ;(fakeProvider as Upstreams['openai']).scriptOnce({ kind: 'answer', content: BEFORE, toolCalls: [call] })
    }
  }

  describe.each(Object.entries(VERSIONS))('version %s', (_version, { sdk, doors }) => {
    const places = ENDPOINT_CASES.flatMap(door => MODELS.map(model => ({ door, model })))
    const ways = places.flatMap(place => (['plain', 'streamed'] as const).map(how => ({ ...place, how })))

    const tools = {
      get_weather: sdk.tool({
        description: 'The weather of a place.',
        inputSchema: sdk.jsonSchema<{ place: string }>({ type: 'object', properties: { place: { type: 'string' } } }),
        execute: async ({ place }: { place: string }) => `Sunny in ${place}`,
      }),
    }

    /**
     * Returns the text and the messages of all steps. Versions before 7 have them in `response`. Throws for any problem that the SDK
     * reports, including warnings.
     */
    async function say(model: Model, messages: Message[], isStreamed: boolean) {
      const params = { model, messages, tools, stopWhen: sdk.stepCountIs(3), maxRetries: 0 }
      if (!isStreamed) {
        const { text, steps, response, responseMessages, finishReason, totalUsage } = await sdk.generateText(params)
        const answered = responseMessages ?? response.messages
        return { text, calls: steps.flatMap(step => step.toolCalls), answered, finishReason, usage: totalUsage }
      }
      let failure: unknown
      const result = sdk.streamText({
        ...params,
        onError({ error }: { error: unknown }) {
          failure ??= error
        },
      })
      for await (const part of result.fullStream) if (part.type === 'error') failure ??= part.error
      if (failure !== undefined) throw failure
      const calls = (await result.steps).flatMap(step => step.toolCalls)
      const [answered, usage] = [
        (await result.responseMessages) ?? (await result.response).messages,
        await result.totalUsage,
      ]
      return { text: await result.text, calls, answered, finishReason: await result.finishReason, usage }
    }

    test.each(draw(ways))('at $door with $model, $how', async ({ door, model, how }) => {
      const at = await connect()
      const sdkModel = doors[door]?.(at, model) as Model
      const messages: Message[] = []
      const turn = async (content: string) => {
        messages.push({ role: 'user', content })
        const answer = await say(sdkModel, messages, how === 'streamed')
        messages.push(...(answer.answered as Message[]))
        expect(answer).toMatchObject({ finishReason: 'stop', text: expect.stringMatching(/.{10}/) })
        expect(answer.usage.outputTokens).toBeGreaterThan(0)
        return answer
      }
      const { text } = await turn(`Hello ${crypto.randomUUID()}`)
      scriptCall(model)
      const looked = await turn('And what is the weather?')
      expect(looked.calls).toMatchObject([{ toolName: 'get_weather', input: { place: 'Oslo' } }])
      await turn('Thank you. And now?')
      const last = fakeOf(model).requests.at(-1)?.body
      if (door === 'responses' && model === 'gpt-5-mini') return
      for (const earlier of [text, BEFORE, 'Sunny in Oslo']) {
        expect(JSON.stringify(last)).toContain(JSON.stringify(earlier).slice(1, -1))
      }
    })

    test.each(draw(places))(
      'at $door, a cut stream of $model sends what arrived, and then the error',
      async ({ door, model }) => {
        const fakeProvider = fakeOf(model) as Upstreams['openai']
        fakeProvider.scriptOnce({ kind: 'cut', after: fakeProvider === (upstreams.anthropic as unknown) ? 4 : 5 })
        const sdkModel = doors[door]?.(await connect(), model) as Model
        const errors: unknown[] = []
        const onError = ({ error }: { error: unknown }) => void errors.push(error)
        const prompt = `Hello ${crypto.randomUUID()}`
        const { fullStream } = sdk.streamText({ model: sdkModel, prompt, maxRetries: 0, onError })
        const kinds: string[] = []
        for await (const { type } of fullStream) kinds.push(type)
        expect(kinds).toContain('text-delta')
        const [error] = errors as Error[]
        // Some versions throw the received error object unchanged.
        expect(error instanceof Error ? error.message : JSON.stringify(error)).toContain('broke off its answer')
      },
    )
  })
})

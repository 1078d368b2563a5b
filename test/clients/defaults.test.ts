/** Frameworks with default settings: only base URL and key are set, and each framework chooses its endpoint. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateObject, generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const MODEL = 'openai/gpt-4o-mini'

describeOnce('frameworks with their defaults, with an aggregator’s model', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let apiKey: string

  beforeEach(async () => {
    upstreams.reset()
    apiKey = await proxy.createKey({ type: 'project' })
  })

  /** The default of each package: OpenAI's uses Responses, Anthropic's uses Messages. */
  const models: [string, () => LanguageModel][] = [
    ['the AI SDK for OpenAI', () => createOpenAI({ baseURL: proxy.baseUrl, apiKey })(MODEL)],
    ['the AI SDK for Anthropic', () => createAnthropic({ baseURL: proxy.baseUrl, apiKey })(MODEL)],
  ]

  test.each(models)('%s: text, streamed, and again from the cache', async (_, modelOf) => {
    const model = modelOf()
    const prompt = `Hello ${crypto.randomUUID()}`
    const plain = await generateText({ model, prompt })
    expect(plain.text.length).toBeGreaterThan(10)
    expect(plain.finishReason).toBe('stop')
    expect(plain.usage.totalTokens).toBeGreaterThan(2)
    const stream = streamText({ model, prompt })
    let text = ''
    for await (const piece of stream.textStream) text += piece
    expect(text).toBe(plain.text)
    expect((await stream.usage).totalTokens).toBe(plain.usage.totalTokens)
    expect(upstreams.aggregator.requests.length).toBeLessThanOrEqual(2)
  })

  test.each(models)('%s: calls a tool and continues', async (_, modelOf) => {
    upstreams.aggregator.scriptOnce(
      { kind: 'answer', toolCalls: [{ name: 'get_weather', arguments: { place: 'Bern' } }] },
      { kind: 'answer', content: 'Sunny in Bern.' },
    )
    const stream = streamText({
      model: modelOf(),
      prompt: `Weather? ${crypto.randomUUID()}`,
      stopWhen: stepCountIs(3),
      tools: {
        get_weather: tool({
          description: 'The weather of a place.',
          inputSchema: z.object({ place: z.string() }),
          execute: async ({ place }) => `Sunny in ${place}`,
        }),
      },
    })
    expect(await stream.text).toBe('Sunny in Bern.')
    expect(await stream.steps).toHaveLength(2)
    const [, second] = upstreams.aggregator.requests
    expect(JSON.stringify(second?.body)).toContain('Sunny in Bern')
  })

  test('the AI SDK for OpenAI: an object with a schema', async () => {
    const [, modelOf] = models[0] ?? []
    if (!modelOf) throw new Error('no model')
    const schema = z.object({ place: z.string() })
    const { object } = await generateObject({ model: modelOf(), schema, prompt: `A place ${crypto.randomUUID()}` })
    expect(object).toMatchObject({ place: expect.any(String) })
  })

  test('OpenAI’s agents SDK: a run with a tool, plain and streamed', async () => {
    const provider = new OpenAIProvider({ apiKey, baseURL: proxy.baseUrl, useResponses: true })
    const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
    const weather = agentTool({
      name: 'get_weather',
      description: 'The weather of a place.',
      parameters: z.object({ place: z.string() }),
      execute: async ({ place }) => `Sunny in ${place}`,
    })
    const agent = new Agent({ name: 'Weather', instructions: 'Be brief.', model: MODEL, tools: [weather] })
    const script = () =>
      upstreams.aggregator.scriptOnce(
        { kind: 'answer', toolCalls: [{ name: 'get_weather', arguments: { place: 'Bern' } }] },
        { kind: 'answer', content: 'Sunny in Bern.' },
      )
    script()
    const plain = await runner.run(agent, `Weather? ${crypto.randomUUID()}`)
    expect(plain.finalOutput).toBe('Sunny in Bern.')
    script()
    const streamed = await runner.run(agent, `Weather? ${crypto.randomUUID()}`, { stream: true })
    await streamed.completed
    expect(streamed.finalOutput).toBe('Sunny in Bern.')
    expect(upstreams.aggregator.requests).toHaveLength(4)
  })
})

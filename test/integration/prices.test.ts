/** Costs of responses by their providers' published prices: tiers, long prompts, cached tokens and their lifetime. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Catalogue, computeCostUsd, loadCatalogue } from '../../src/catalogue/catalogue.ts'
import { apiFormatOf } from '../../src/formats/endpoint-formats.ts'
import type { JsonObject } from '../../src/formats/json/canonical.ts'
import { readPassThroughUsage } from '../../src/pipeline/spending/pass-through-usage.ts'
import { describeEmbedded } from '../harness/backends.ts'

const MILLION = 1_000_000

/** US dollars per million: input, cached input, output. */
const OPENAI: [model: string, tier: string, above: number, input: number, cached: number, output: number][] = [
  ['gpt-5.4', 'default', 0, 2.5, 0.25, 15],
  ['gpt-5.4', 'default', 272_000, 5, 0.5, 22.5],
  ['gpt-5.4', 'priority', 0, 5, 0.5, 30],
  ['gpt-5.4', 'flex', 0, 1.25, 0.13, 7.5],
  ['gpt-5.5', 'default', 0, 5, 0.5, 30],
  ['gpt-5.5', 'default', 272_000, 10, 1, 45],
  ['gpt-5.5', 'priority', 0, 10, 1, 60],
  ['gpt-5.5', 'flex', 0, 2.5, 0.25, 15],
  ['gpt-4.1', 'default', 0, 2, 0.5, 8],
  ['gpt-4.1', 'priority', 0, 3.5, 0.875, 14],
  ['gpt-5-mini', 'flex', 0, 0.125, 0.0125, 1],
  ['gpt-5-mini', 'priority', 0, 0.45, 0.045, 3.6],
  ['gpt-4.1-mini', 'priority', 0, 0.7, 0.175, 2.8],
  ['gpt-4.1-nano', 'priority', 0, 0.2, 0.05, 0.8],
  ['gpt-4o', 'priority', 0, 4.25, 2.125, 17],
  ['gpt-4o-mini', 'priority', 0, 0.25, 0.125, 1],
  ['gpt-5', 'flex', 0, 0.625, 0.0625, 5],
  ['gpt-5', 'priority', 0, 2.5, 0.25, 20],
  ['gpt-5.2', 'priority', 0, 3.5, 0.35, 28],
  ['gpt-5.4-mini', 'flex', 0, 0.375, 0.0375, 2.25],
  ['o4-mini', 'priority', 0, 2, 0.5, 8],
  ['o3', 'flex', 0, 1, 0.25, 4],
  ['o3', 'priority', 0, 3.5, 0.875, 14],
]

/** US dollars per million: input, cached input, cached for five minutes, cached for an hour, output. */
const ANTHROPIC: [model: string, above: number, ...prices: [number, number, number, number, number]][] = [
  ['claude-sonnet-4-5', 0, 3, 0.3, 3.75, 6, 15],
  ['claude-sonnet-4-5', 200_000, 6, 0.6, 7.5, 12, 22.5],
  ['claude-opus-4-6', 0, 5, 0.5, 6.25, 10, 25],
  ['claude-haiku-4-5', 0, 1, 0.1, 1.25, 2, 5],
  ['claude-sonnet-5-5', 0, 2, 0.1, 2.5, 4, 10],
]

/** Input tokens above a condition's bound, cached tokens among them, output tokens. */
const SIZES = [
  [1, 0, 1],
  [1_000, 400, 300],
  [100_000, 100_000, 0],
  [150_001, 70_000, 128_000],
] as const

const openAiCases = OPENAI.flatMap(row => SIZES.map(size => [...row, ...size] as const))
const anthropicCases = ANTHROPIC.flatMap(row => SIZES.map(size => [...row, ...size] as const))

describeEmbedded('prices', backend => {
  let catalogue: Catalogue
  beforeAll(async () => {
    catalogue = await loadCatalogue(await backend.open())
  })
  afterAll(() => catalogue.close())

  function cost(endpoint: 'chat' | 'responses' | 'messages', provider: string, model: string, answer: JsonObject) {
    const usage = apiFormatOf(endpoint).readUsage(answer.usage, answer)
    return usage && computeCostUsd(catalogue.find(provider, model), usage)
  }

  test.each(openAiCases)(
    'OpenAI: %s, %s, above %d: %d, %d, %d; %d more tokens, %d of them cached, %d out',
    (model, tier, above, input, cached, output, more, read, written) => {
      const prompt = above + more
      const dollars = ((prompt - read) * input + read * cached + written * output) / MILLION
      const chat = {
        service_tier: tier,
        usage: { prompt_tokens: prompt, completion_tokens: written, prompt_tokens_details: { cached_tokens: read } },
      }
      const response = {
        service_tier: tier,
        usage: { input_tokens: prompt, output_tokens: written, input_tokens_details: { cached_tokens: read } },
      }
      expect(cost('chat', 'openai', model, chat)).toBeCloseTo(dollars, 9)
      expect(cost('responses', 'openai', model, response)).toBeCloseTo(dollars, 9)
    },
  )

  test.each(anthropicCases)(
    'Anthropic: %s, above %d: %d, %d, %d, %d, %d; %d more tokens, %d of them cached, %d out',
    (model, above, input, cached, kept, keptForAnHour, output, more, read, written) => {
      const [minutes, hour] = [Math.floor(read / 2), Math.floor(read / 4)]
      const fresh = above + more - read
      const dollars =
        (fresh * input + (read - minutes - hour) * cached + minutes * kept + hour * keptForAnHour + written * output) /
        MILLION
      const usage = {
        input_tokens: fresh,
        cache_read_input_tokens: read - minutes - hour,
        cache_creation_input_tokens: minutes + hour,
        cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
        output_tokens: written,
        service_tier: 'standard',
      }
      expect(cost('messages', 'anthropic', model, { usage })).toBeCloseTo(dollars, 9)
    },
  )

  test('are the vendors’ for units other than text tokens', () => {
    const image = {
      input_tokens: 300,
      output_tokens: 4_160,
      input_tokens_details: { text_tokens: 50, image_tokens: 250 },
    }
    const heard = { input_tokens: 700, output_tokens: 90, input_token_details: { text_tokens: 100, audio_tokens: 600 } }
    // A response in a session: some of the text and of the audio was cached.
    const spoken = {
      input_tokens: 1_100,
      output_tokens: 300,
      input_token_details: {
        text_tokens: 500,
        audio_tokens: 600,
        cached_tokens: 300,
        cached_tokens_details: { text_tokens: 200, audio_tokens: 100 },
      },
      output_token_details: { text_tokens: 50, audio_tokens: 250 },
    }
    const passed: [model: string, usage: JsonObject, dollars: number][] = [
      ['gpt-image-1', image, (50 * 5 + 250 * 10 + 4_160 * 40) / MILLION],
      ['gpt-4o-transcribe', heard, (100 * 2.5 + 600 * 2.5 + 90 * 10) / MILLION],
      ['gpt-4o-mini-transcribe', heard, (100 * 1.25 + 600 * 1.25 + 90 * 5) / MILLION],
      ['gpt-realtime-2', spoken, (300 * 4 + 200 * 0.4 + 500 * 32 + 100 * 0.4 + 50 * 24 + 250 * 64) / MILLION],
      [
        'gpt-realtime-2.1-mini',
        spoken,
        (300 * 0.6 + 200 * 0.06 + 500 * 10 + 100 * 0.3 + 50 * 2.4 + 250 * 20) / MILLION,
      ],
    ]
    for (const [model, usage, dollars] of passed) {
      expect(computeCostUsd(catalogue.find('openai', model), readPassThroughUsage(usage))).toBeCloseTo(dollars, 12)
    }
    const claude = { input_tokens: 6_000, output_tokens: 900, server_tool_use: { web_search_requests: 4 } }
    const searched = (6_000 * 1 + 900 * 5) / MILLION + 4 * 0.01
    expect(cost('messages', 'anthropic', 'claude-haiku-4-5', { usage: claude })).toBeCloseTo(searched, 12)
    const output = [{ type: 'web_search_call' }, { type: 'web_search_call' }, { type: 'message' }]
    const response = { output, usage: { input_tokens: 1_000, output_tokens: 200 } }
    expect(cost('responses', 'openai', 'gpt-5.4', response)).toBeCloseTo((1_000 * 2.5 + 200 * 15) / MILLION + 0.02, 12)
    // Three file searches, and two containers of 4 GB, one of which served two calls.
    const ran = ['cntr_1', 'cntr_1', 'cntr_2'].map(id => ({ type: 'code_interpreter_call', container_id: id }))
    const found = Array.from({ length: 3 }, () => ({ type: 'file_search_call' }))
    const tools = [
      { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } },
      { type: 'file_search' },
    ]
    const used = { ...response, output: [...ran, ...found], tools }
    expect(cost('responses', 'openai', 'gpt-5.4', used)).toBeCloseTo(
      (1_000 * 2.5 + 200 * 15) / MILLION + 3 * 0.0025 + 2 * 0.12,
      12,
    )
  })

  test('a model past its shutdown date has a price and is not listed', () => {
    expect(catalogue.find('anthropic', 'claude-opus-4-1')).toBeDefined()
    expect(catalogue.modelsOf('anthropic').map(({ model }) => model)).not.toContain('claude-opus-4-1')
  })

  test('a tier without its own price costs as the standard one', () => {
    const usage = { prompt_tokens: MILLION, completion_tokens: 0 }
    expect(cost('chat', 'openai', 'gpt-4o', { usage, service_tier: 'scale' })).toBeCloseTo(2.5, 9)
  })
})

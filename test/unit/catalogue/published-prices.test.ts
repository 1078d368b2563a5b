import { expect, test } from 'vitest'
import { parsePublishedPrices } from '../../../src/catalogue/published-prices.ts'

const LITELLM = {
  sample_spec: { mode: 'one of: chat, embedding, …' },
  'gpt-5.4': {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1.5e-5,
    cache_read_input_token_cost: 2.5e-7,
    input_cost_per_token_flex: 1.25e-6,
    output_cost_per_token_flex: 7.5e-6,
    cache_read_input_token_cost_flex: 1.3e-7,
    input_cost_per_token_above_272k_tokens: 5e-6,
    output_cost_per_token_above_272k_tokens: 2.25e-5,
    input_cost_per_token_above_272k_tokens_priority: 1e-5,
    output_cost_per_token_above_272k_tokens_priority: 4.5e-5,
  },
  'claude-haiku-4-5': {
    litellm_provider: 'anthropic',
    mode: 'chat',
    input_cost_per_token: 1e-6,
    output_cost_per_token: 5e-6,
    cache_creation_input_token_cost: 1.25e-6,
    cache_creation_input_token_cost_above_1hr: 2e-6,
  },
  'groq/llama-3.3-70b-versatile': {
    litellm_provider: 'groq',
    mode: 'chat',
    input_cost_per_token: 5.9e-7,
    output_cost_per_token: 7.9e-7,
  },
  'text-embedding-3-small': { litellm_provider: 'openai', mode: 'embedding', input_cost_per_token: 2e-8 },
  'together_ai/openai/gpt-oss-20b': {
    litellm_provider: 'together_ai',
    mode: 'chat',
    input_cost_per_token: 5e-8,
    output_cost_per_token: 2e-7,
  },
  'dall-e-3': { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_token: 1 },
  'azure/gpt-5.4': { litellm_provider: 'azure', mode: 'chat', input_cost_per_token: 1, output_cost_per_token: 1 },
}

const SOURCES = new Map([
  ...['openai', 'anthropic', 'groq'].map(name => [name, name] as const),
  ['together_ai', 'together'],
  ['togetherai', 'together'],
])

const told = (table: unknown) =>
  parsePublishedPrices(table, SOURCES).map(price => [
    `${price.provider} ${price.model} ${price.tier} ${price.above_prompt_tokens}`,
    price.input_usd_per_million,
    price.cached_input_usd_per_million,
    price.cache_write_usd_per_million,
    price.cache_write_hour_usd_per_million,
    price.output_usd_per_million,
  ])

test('converts LiteLLM’s table: prices per million tokens, and conditions', () => {
  expect(told(LITELLM)).toEqual([
    ['openai gpt-5.4 standard 0', 2.5, 0.25, null, null, 15],
    ['openai gpt-5.4 flex 0', 1.25, 0.13, null, null, 7.5],
    ['openai gpt-5.4 standard 272000', 5, null, null, null, 22.5],
    ['anthropic claude-haiku-4-5 standard 0', 1, null, 1.25, 2, 5],
    ['groq llama-3.3-70b-versatile standard 0', 0.59, null, null, null, 0.79],
    ['openai text-embedding-3-small standard 0', 0.02, null, null, null, 0],
    ['together openai/gpt-oss-20b standard 0', 0.05, null, null, null, 0.2],
  ])
})

test('converts models.dev’s table', () => {
  const table = {
    anthropic: {
      id: 'anthropic',
      models: {
        'claude-sonnet-4-5': {
          cost: {
            input: 3,
            output: 15,
            cache_read: 0.3,
            cache_write: 3.75,
            context_over_200k: { input: 6, output: 22.5 },
          },
        },
        free: { cost: {} },
      },
    },
    togetherai: { models: { 'zai-org/GLM-4.6': { cost: { input: 0.6, output: 2.2 } } } },
    elsewhere: { models: { a: { cost: { input: 1, output: 1 } } } },
  }
  expect(told(table)).toEqual([
    ['anthropic claude-sonnet-4-5 standard 0', 3, 0.3, 3.75, null, 15],
    ['anthropic claude-sonnet-4-5 standard 200000', 6, null, null, null, 22.5],
    ['together zai-org/GLM-4.6 standard 0', 0.6, null, null, null, 2.2],
  ])
})

test.each([[[]], [{}], [{ openai: { models: {} } }], ['text']])('rejects %j', table => {
  expect(() => parsePublishedPrices(table, new Map([['openai', 'openai']]))).toThrow(
    /must be a JSON object|no price of openai/,
  )
})

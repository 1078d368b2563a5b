import { describe, expect, test } from 'vitest'
import { parseModelPage } from '../../../src/catalogue/aggregator-models.ts'

const item = (fields: Record<string, unknown> = {}) => ({
  id: 'acme/large',
  name: 'Acme: Large',
  context_length: 131_072,
  architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
  pricing: { prompt: '0.0000012', completion: '0.000006', request: '0', input_cache_read: '0.00000012' },
  top_provider: { context_length: 131_072, max_completion_tokens: 16_384 },
  supported_parameters: ['tools', 'structured_outputs', 'temperature'],
  ...fields,
})
const readOne = (fields: Record<string, unknown>) => parseModelPage({ data: [item(fields)] })

describe('the aggregator’s list', () => {
  test('becomes rows with prices per million tokens', () => {
    expect(parseModelPage({ data: [item()] })).toEqual({
      models: [
        {
          model: 'acme/large',
          kind: 'chat',
          context_tokens: 131_072,
          max_output_tokens: 16_384,
          input_usd_per_million: 1.2,
          cached_input_usd_per_million: 0.12,
          cache_write_usd_per_million: null,
          output_usd_per_million: 6,
          request_usd: 0,
          capabilities: ['files', 'images', 'structured_output', 'tools'],
        },
      ],
      skipped: 0,
    })
  })

  test('includes the fee per request', () => {
    const pricing = { prompt: '0.000001', completion: '0.000001' }
    expect(readOne({ pricing: { ...pricing, request: '0.005' } }).models).toMatchObject([{ request_usd: 0.005 }])
    expect(readOne({ pricing }).models).toMatchObject([{ request_usd: 0 }])
    // A search that runs for every request is a request fee. An optional search is not.
    const searched = { ...pricing, request: '0', web_search: '0.005' }
    expect(readOne({ id: 'perplexity/sonar', pricing: searched }).models).toMatchObject([{ request_usd: 0.005 }])
    expect(readOne({ pricing: searched }).models).toMatchObject([{ request_usd: 0 }])
    for (const request of ['-1', 'much', '5000']) expect(readOne({ pricing: { ...pricing, request } }).skipped).toBe(1)
  })

  test('recognizes embedding models by their output', () => {
    expect(readOne({ architecture: { output_modalities: ['embeddings'] } }).models[0]?.kind).toBe('embedding')
  })

  test.each([
    ['a price that varies', { pricing: { prompt: '-1', completion: '-1' } }],
    ['no price', { pricing: {} }],
    ['a price that is no number', { pricing: { prompt: 'free', completion: '0' } }],
    ['a price in another unit', { pricing: { prompt: '3', completion: '15' } }],
    ['white space in its name', { id: 'acme/large one' }],
    ['a name that is no text', { id: 7 }],
  ])('skips a model with %s', (_, fields) => {
    expect(readOne(fields)).toMatchObject({ models: [], skipped: 1 })
  })

  test('includes free models, and models that leave fields open', () => {
    const [free] = readOne({
      pricing: { prompt: '0', completion: '0' },
      context_length: null,
      top_provider: null,
    }).models
    expect(free).toMatchObject({ input_usd_per_million: 0, output_usd_per_million: 0, context_tokens: null })
  })

  test('includes a name without a vendor', () => {
    expect(readOne({ id: 'grok-4' }).models[0]?.model).toBe('grok-4')
  })

  test('does not round prices', () => {
    const [model] = readOne({ pricing: { prompt: '0.0000000375', completion: '0.00000000000125' } }).models
    expect(model).toMatchObject({ input_usd_per_million: 0.0375, output_usd_per_million: 0.000001 })
  })

  test.each([[null], [[]], [{ models: [] }], [{ data: 'none' }], ['text']])('is rejected when it is %j', body => {
    expect(() => parseModelPage(body)).toThrow(/no list of models/)
  })
})

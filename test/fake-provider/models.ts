/** The fake provider's list of models, in OpenAI's format and in the aggregator's. */

import type { Flavour, JsonObject } from './scenario.ts'

const MODELS = ['fake/small', 'fake/large', 'fake/embedding']

export function writeModels(flavour: Flavour, path: string): JsonObject {
  const data = MODELS.map(id => (flavour === 'aggregator' ? describeWithPrices(id) : describe(id)))
  const wanted = path.split('/models/')[1]
  if (wanted === undefined) return flavour === 'aggregator' ? { data } : { object: 'list', data }
  return data.find(model => model.id === decodeURIComponent(wanted)) ?? describe(decodeURIComponent(wanted))
}

function describe(id: string): JsonObject {
  return { id, object: 'model', created: 1_760_000_000, owned_by: 'fake' }
}

/** Prices are strings, in US dollars per token. */
function describeWithPrices(id: string): JsonObject {
  return {
    id,
    canonical_slug: id,
    name: id,
    created: 1_760_000_000,
    context_length: 131_072,
    architecture: {
      modality: 'text->text',
      input_modalities: ['text'],
      output_modalities: ['text'],
      tokenizer: 'Other',
    },
    pricing: { prompt: '0.000001', completion: '0.000002', request: '0', image: '0' },
    top_provider: { context_length: 131_072, max_completion_tokens: 16_384, is_moderated: false },
    supported_parameters: ['max_tokens', 'temperature', 'tools', 'response_format', 'seed'],
  }
}

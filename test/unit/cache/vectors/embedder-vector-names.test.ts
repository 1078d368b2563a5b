import { describe, expect, test } from 'vitest'
import { createApiEmbedder } from '../../../../src/cache/embedders/api-embedder.ts'
import { createBuiltinEmbedder } from '../../../../src/cache/embedders/builtin-embedder.ts'
import { createEmbedderVectorNamer } from '../../../../src/cache/vectors/embedder-vector-names.ts'
import { createVectorNamer } from '../../../../src/cache/vectors/pack-vector.ts'
import { readConfig } from '../../../../src/config/config.ts'
import { SEEDED_VENDORS } from '../../../harness/vendors.ts'

const config = readConfig({ AGGREGATOR_NAME: 'hub', AGGREGATOR_BASE_URL: 'https://hub.example/v1' })
const catalogue = {
  vendors: SEEDED_VENDORS,
  directProvidersOf: (model: string) => (model === 'text-embedding-3-small' ? ['openai'] : []),
}

function nameWith(baseUrl: string, model: string): string {
  const embedder = createApiEmbedder({ kind: 'api', baseUrl, apiKey: 'k', model, dimensions: 512 })
  return createEmbedderVectorNamer(embedder, config, catalogue)('text')
}

/** The name of vectors that a client's own embedding request creates. */
function nameFor(route: string, model: string, dimensions: number | null): string {
  return createVectorNamer({ namespace: '', version: '', route, model, dimensions, otherFields: {} })('text')
}

describe('nameEmbedderVectors', () => {
  test('names vectors of the aggregator as those of its clients’ requests, with the vendor before a native name', () => {
    const expected = nameFor('aggregator/hub', 'openai/text-embedding-3-small', 512)
    expect(nameWith('https://hub.example/v1', 'openai/text-embedding-3-small')).toBe(expected)
    expect(nameWith('https://hub.example/v1', 'text-embedding-3-small')).toBe(expected)
  })

  test('names vectors of OpenAI as those of requests with the project’s provider key', () => {
    expect(nameWith(SEEDED_VENDORS.find('openai')?.base_url ?? '', 'text-embedding-3-small')).toBe(
      nameFor('openai/openai', 'text-embedding-3-small', 512),
    )
  })

  test('omits dimensions if the model does not support them', () => {
    expect(nameWith('https://hub.example/v1', 'mistralai/mistral-embed')).toBe(
      nameFor('aggregator/hub', 'mistralai/mistral-embed', null),
    )
  })

  test('separates any other address, and the built-in embedder', () => {
    const names = [
      nameWith('https://hub.example/v1', 'text-embedding-3-small'),
      nameWith('https://one.example/v1', 'text-embedding-3-small'),
      nameWith('https://other.example/v1', 'text-embedding-3-small'),
      createEmbedderVectorNamer(createBuiltinEmbedder(), config, catalogue)('text'),
    ]
    expect(new Set(names).size).toBe(names.length)
  })
})

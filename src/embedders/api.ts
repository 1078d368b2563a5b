/** Embeds through any OpenAI-compatible embeddings address. */
import type { EmbedderConfig } from '../config.ts'
import type { Embedder } from './embedder.ts'

type ApiConfig = Extract<EmbedderConfig, { kind: 'api' }>

/** Models that take a `dimensions` parameter; others give the one length they have. */
const SHORTENABLE = /text-embedding-3|gemini-embedding|qwen3-embedding|nomic-embed-text-v1\.5/i

export function createApiEmbedder({ baseUrl, apiKey, model, dimensions }: ApiConfig): Embedder {
  return {
    space: { model, dimensions },
    isFree: false,
    async embed(text, signal) {
      const response = await fetch(`${baseUrl}/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          input: text,
          encoding_format: 'float',
          ...(SHORTENABLE.test(model) ? { dimensions } : {}),
        }),
        redirect: 'manual',
        ...(signal ? { signal } : {}),
      })
      // The body may quote the text: the status has to be enough.
      if (!response.ok) throw new Error(`The embeddings address answered with status ${response.status}`)
      return readVector(await response.json(), dimensions)
    },
  }
}

function readVector(body: unknown, dimensions: number): Float32Array {
  const data = isObject(body) && Array.isArray(body.data) ? body.data[0] : undefined
  const embedding = isObject(data) ? data.embedding : undefined
  if (!Array.isArray(embedding)) throw new Error('The embeddings address answered without a vector')
  if (embedding.length !== dimensions) {
    throw new Error(`The embeddings address gave ${embedding.length} dimensions; set EMBEDDINGS_DIMENSIONS to that`)
  }
  const vector = Float32Array.from(embedding)
  if (!vector.every(Number.isFinite)) throw new Error('The embeddings address gave a vector that is not all numbers')
  return vector
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

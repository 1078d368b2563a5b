/** Embeds through any OpenAI-compatible embeddings endpoint. */

import type { EmbedderConfig } from '../../config/config.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readInputUsage } from '../../formats/usage/read-usage.ts'
import { Credentials } from '../../providers/credentials/credentials.ts'
import type { EmbeddingResult, PaidEmbedder } from './embedder.ts'

type ApiConfig = Extract<EmbedderConfig, { kind: 'api' }>

/** Models that accept a `dimensions` parameter. Other models have a fixed number of dimensions. */
const HAS_DIMENSIONS_PARAMETER = /text-embedding-3|gemini-embedding|qwen3-embedding|nomic-embed-text-v1\.5/i

export function createApiEmbedder({ baseUrl, apiKey, model, dimensions }: ApiConfig): PaidEmbedder {
  const acceptsDimensions = HAS_DIMENSIONS_PARAMETER.test(model)
  const provider = new URL(baseUrl).hostname
  const credentials = new Credentials([apiKey])
  return {
    space: { model, dimensions },
    isFree: false,
    endpoint: { baseUrl, model, dimensions: acceptsDimensions ? dimensions : null },
    embed(text, signal, trace) {
      const body = JSON.stringify({
        model,
        input: text,
        encoding_format: 'float',
        ...(acceptsDimensions ? { dimensions } : {}),
      })

      async function send(headers: Headers): Promise<EmbeddingResult> {
        headers.set('authorization', `Bearer ${apiKey}`)
        headers.set('content-type', 'application/json')
        const response = await fetch(`${baseUrl}/embeddings`, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
          signal,
        })
        // The body may quote the text, so only the status is reported.
        if (!response.ok)
          throw new Error(`embeddings API at EMBEDDINGS_BASE_URL responded with status ${response.status}`)
        return readResult(parse(credentials.redact(await response.text())), { model, dimensions })
      }

      const call = { endpoint: 'embeddings', model, provider, purpose: 'embedder' as const }
      return trace ? trace.traceInternalCall(call, send) : send(new Headers())
    },
    close: async () => {},
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message would quote the text.
    throw new Error('embeddings API at EMBEDDINGS_BASE_URL responded with a body that is not JSON')
  }
}

function readResult(body: unknown, expected: { model: string; dimensions: number }): EmbeddingResult {
  const response = isJsonObject(body) ? body : {}
  return {
    numbers: readVector(response, expected.dimensions),
    promptTokens: readInputUsage(response.usage)?.promptTokens ?? 0,
    responseModel: typeof response.model === 'string' ? response.model : expected.model,
  }
}

function readVector({ data }: Record<string, unknown>, dimensions: number): number[] {
  const datum: unknown = Array.isArray(data) ? data[0] : undefined
  const embedding = isJsonObject(datum) ? datum.embedding : undefined
  if (!Array.isArray(embedding)) throw new Error('embeddings API at EMBEDDINGS_BASE_URL responded without a vector')
  if (embedding.length !== dimensions) {
    throw new Error(
      `embeddings API responded with ${embedding.length} dimensions; set EMBEDDINGS_DIMENSIONS to ${embedding.length}`,
    )
  }
  if (embedding.every(Number.isFinite)) return embedding
  throw new Error(
    'embeddings API at EMBEDDINGS_BASE_URL responded with a vector that contains a value other than a number',
  )
}

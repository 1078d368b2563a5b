/** Embeds through any OpenAI-compatible embeddings endpoint. */

import type { EmbedderConfig } from '../../config/config.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readInputUsage } from '../../formats/usage/read-usage.ts'
import { Credentials } from '../../providers/credentials/credentials.ts'
import type { EmbeddingResult, PaidEmbedder } from './embedder.ts'

type ApiConfig = Extract<EmbedderConfig, { kind: 'api' }>

/** Models that take a `dimensions` parameter; other models have one fixed length. */
const SHORTENABLE = /text-embedding-3|gemini-embedding|qwen3-embedding|nomic-embed-text-v1\.5/i

export function createApiEmbedder({ baseUrl, apiKey, model, dimensions }: ApiConfig): PaidEmbedder {
  const isShortenable = SHORTENABLE.test(model)
  const provider = new URL(baseUrl).hostname
  const credentials = new Credentials([apiKey])
  return {
    space: { model, dimensions },
    isFree: false,
    endpoint: { baseUrl, model, dimensions: isShortenable ? dimensions : null },
    embed(text, signal, trace) {
      const body = JSON.stringify({
        model,
        input: text,
        encoding_format: 'float',
        ...(isShortenable ? { dimensions } : {}),
      })

      async function ask(headers: Headers): Promise<EmbeddingResult> {
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
        if (!response.ok) throw new Error(`The embeddings address answered with status ${response.status}`)
        return readAnswer(parse(credentials.redact(await response.text())), { model, dimensions })
      }

      const call = { endpoint: 'embeddings', model, provider, purpose: 'embedder' as const }
      return trace ? trace.traceInternalCall(call, ask) : ask(new Headers())
    },
    close: async () => {},
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message would quote the text.
    throw new Error('The embeddings address gave an answer that is not JSON')
  }
}

function readAnswer(body: unknown, asked: { model: string; dimensions: number }): EmbeddingResult {
  const answer = isJsonObject(body) ? body : {}
  return {
    numbers: readVector(answer, asked.dimensions),
    promptTokens: readInputUsage(answer.usage)?.promptTokens ?? 0,
    responseModel: typeof answer.model === 'string' ? answer.model : asked.model,
  }
}

function readVector({ data }: Record<string, unknown>, dimensions: number): number[] {
  const datum: unknown = Array.isArray(data) ? data[0] : undefined
  const embedding = isJsonObject(datum) ? datum.embedding : undefined
  if (!Array.isArray(embedding)) throw new Error('The embeddings address answered without a vector')
  if (embedding.length !== dimensions) {
    throw new Error(`The embeddings address gave ${embedding.length} dimensions; set EMBEDDINGS_DIMENSIONS to that`)
  }
  if (embedding.every(Number.isFinite)) return embedding
  throw new Error('The embeddings address gave a vector that is not all numbers')
}

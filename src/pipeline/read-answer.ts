/** Reads and judges a provider's answer once all of it is there. */

import type { TokenUsage } from '../catalogue/cost.ts'
import { isJsonObject, type JsonObject } from '../json/json-object.ts'
import { broken } from '../providers/call-upstream.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { countPromptTokens, countTextTokens } from '../tokens/count-tokens.ts'
import { formatOf } from './formats/format-of.ts'

/** Larger plain answers are not held in memory; no provider gives such. */
const MAX_PLAIN_BYTES = 64 * 1024 * 1024

/** Throws a 502 where there is more of it than that. */
export async function readAll(
  body: ReadableStream<Uint8Array>,
  provider: string,
  mostBytes: number = MAX_PLAIN_BYTES,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    parts.push(part)
    length += part.length
    if (length > mostBytes) throw broken(provider, `gave an answer of more than ${mostBytes} bytes`)
  }
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts, length)
}

/** Throws a 502 where the text is not a JSON object. */
export function parseAnswer(text: string, provider: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text)
    if (isJsonObject(body)) return body
  } catch {
    // Told below; the parser's own message would quote the answer.
  }
  throw broken(provider, 'gave an answer that is not a JSON object')
}

/** As the provider reported it; counted where it did not. */
export function usageOf(endpoint: Endpoint, request: JsonObject, answer: JsonObject, reported: unknown): TokenUsage {
  return formatOf(endpoint).readUsage(reported) ?? countUsage(endpoint, request, answer)
}

/** For an answer whose provider reported no usage, one that was cut included: counted with the tokenizer. */
function countUsage(endpoint: Endpoint, request: JsonObject, answer: JsonObject): TokenUsage {
  return {
    promptTokens: countPromptTokens(request, endpoint),
    cachedPromptTokens: 0,
    completionTokens: countTextTokens(
      formatOf(endpoint).textOf(answer),
      typeof request.model === 'string' ? request.model : undefined,
    ),
    reportedCostUsd: null,
  }
}

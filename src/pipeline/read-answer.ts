/** Reads and judges a provider's answer once all of it is there. */

import type { TokenUsage } from '../catalogue/cost.ts'
import { isJsonObject, type JsonObject } from '../json/json-object.ts'
import { type Completeness, judgeCompleteness } from '../openai-format/completeness.ts'
import { broken } from '../providers/call-upstream.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { countPromptTokens, countTextTokens } from '../tokens/count-tokens.ts'

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

/** Whether the answer may be stored and shared. */
export function judgeAnswer(endpoint: Endpoint, answer: JsonObject, request: JsonObject): Completeness {
  if (endpoint === 'embeddings') return Array.isArray(answer.data) && answer.data.length > 0 ? 'whole' : 'not_an_answer'
  return judgeCompleteness(answer, { clientSetOutputLimit: setsOutputLimit(endpoint, request) })
}

/**
 * An answer cut at a limit that the client set is whole: it is what was asked for. A legacy completion always has one: its
 * documented default of 16 tokens.
 */
export function setsOutputLimit(endpoint: Endpoint, request: JsonObject): boolean {
  if (endpoint === 'completions') return true
  return [request.max_tokens, request.max_completion_tokens].some(limit => typeof limit === 'number')
}

/** For an answer whose provider reported no usage, one that was cut included: counted with the tokenizer. */
export function countUsage(endpoint: Endpoint, request: JsonObject, answer: JsonObject): TokenUsage {
  return {
    promptTokens: countPromptTokens(request, endpoint),
    cachedPromptTokens: 0,
    completionTokens: countTextTokens(textOf(answer), typeof request.model === 'string' ? request.model : undefined),
    reportedCostUsd: null,
  }
}

function textOf(answer: JsonObject): string {
  const choices: unknown[] = Array.isArray(answer.choices) ? answer.choices : []
  return choices
    .map(choice =>
      isJsonObject(choice) ? (isJsonObject(choice.message) ? choice.message.content : choice.text) : undefined,
    )
    .filter(text => typeof text === 'string')
    .join('\n')
}

/** Writes legacy text completions and embeddings. */

import { hashText, splitTokens } from './compose.ts'
import type { JsonObject } from './scenario.ts'
import { type AnswerContext, writeUsage } from './write-chat.ts'

export function writeLegacyPlain(context: AnswerContext): JsonObject {
  const choices = context.composed.choices.map((choice, index) => ({
    text: choice.content ?? '',
    index,
    logprobs: writeLegacyLogprobs(context, splitTokens(choice.content ?? ''), 0),
    finish_reason: choice.finishReason,
  }))
  return { ...writeHead(context), choices, ...(context.scenario.usage === null ? {} : { usage: writeUsage(context) }) }
}

export function writeLegacyChunks(context: AnswerContext): JsonObject[] {
  const chunks: JsonObject[] = context.composed.choices.flatMap((choice, index) => {
    let offset = 0
    const steps = splitTokens(choice.content ?? '').map(token => {
      const logprobs = writeLegacyLogprobs(context, [token], offset)
      offset += token.length
      return { text: token, index, logprobs, finish_reason: null }
    })
    return [...steps, { text: '', index, logprobs: null, finish_reason: choice.finishReason }]
  })
  const all = chunks.map(choice => ({ ...writeHead(context), choices: [choice] }))
  const options = context.request.stream_options as { include_usage?: boolean } | undefined
  if (options?.include_usage !== true) return all
  return [
    ...all.map(chunk => ({ ...chunk, usage: null })),
    { ...writeHead(context), choices: [], usage: writeUsage(context) },
  ]
}

function writeHead({ request, serial }: AnswerContext): JsonObject {
  return {
    id: `cmpl-fake${serial}`,
    object: 'text_completion',
    created: 1_760_000_000 + serial,
    model: request.model,
  }
}

function writeLegacyLogprobs({ request }: AnswerContext, tokens: string[], offset: number): JsonObject | null {
  if (typeof request.logprobs !== 'number' || tokens.length === 0) return null
  let at = offset
  const offsets = tokens.map(token => {
    at += token.length
    return at - token.length
  })
  return {
    tokens,
    token_logprobs: tokens.map((_, position) => -(position % 5) / 10),
    top_logprobs: tokens.map(token => ({ [token]: -0.1 })),
    text_offset: offsets,
  }
}

/** Texts with common words have similar vectors, and equal texts have equal ones. All vectors have length 1. */
export function writeEmbeddings(request: JsonObject): JsonObject {
  const inputs = readInputs(request.input)
  const dimensions = typeof request.dimensions === 'number' ? request.dimensions : 1536
  if (!Number.isInteger(dimensions) || dimensions < 1) throw new RangeError('dimensions')
  const data = inputs.map((input, index) => {
    const vector = embedText(input, dimensions)
    const embedding = request.encoding_format === 'base64' ? encodeVector(vector) : [...vector]
    return { object: 'embedding', index, embedding }
  })
  const tokens = inputs.reduce((sum, input) => sum + Math.max(1, splitTokens(input).length), 0)
  return { object: 'list', data, model: request.model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

/** Accepts one text, several texts, or token numbers in either form. */
function readInputs(input: unknown): string[] {
  if (!Array.isArray(input)) return [String(input)]
  if (input.every(item => typeof item === 'number')) return [input.join(' ')]
  return input.map(item => (Array.isArray(item) ? item.join(' ') : String(item)))
}

function embedText(text: string, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (const word of text.toLowerCase().match(/\w+/gu) ?? [text]) {
    let state = Number.parseInt(hashText(word).slice(0, 8), 16) | 1
    for (let at = 0; at < dimensions; at++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      sum[at] = (sum[at] ?? 0) + state / 2 ** 31
    }
  }
  const length = Math.hypot(...sum) || 1
  return sum.map(value => value / length)
}

function encodeVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}

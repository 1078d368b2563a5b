/** Splits a plain response into the chunks that its upstream could have streamed, as server-sent events. */

import { asObjects, isJsonObject, type JsonObject, readField, writeField } from '../json/canonical.ts'
import { chunkText, groupTokens } from './chunk-text.ts'
import { type MessageDeltas, splitChatMessage } from './split-chat-message.ts'

export interface SplitChatOptions {
  /** The client's `stream_options.include_usage`. If true, the last chunk contains the usage and no choices. If false, usage is not sent. */
  includeUsage: boolean
}

/** Fields of every chunk. Unknown fields are only in the first chunk. */
const REPEATED_KEYS = new Set(['id', 'object', 'created', 'model', 'service_tier', 'system_fingerprint'])
const KNOWN_KEYS = new Set(['choices', 'usage', ...REPEATED_KEYS])

/**
 * Returns the `data` of each event, without the closing `[DONE]`, for a chat or legacy completion body. Several choices are
 * interleaved, as upstreams stream them. Assembling the chunks returns the same body.
 */
export function splitChatResponse(body: JsonObject, options: SplitChatOptions): string[] {
  const choices = splitChoices(body)
  const usage = options.includeUsage ? (readField(body, 'usage') ?? null) : null
  const head = JSON.stringify(buildEnvelope(body, usage !== null)).slice(0, -1)
  const payloads = choices.map(choice => `${head},"choices":[${choice}]}`)
  if (payloads.length === 0) payloads.push(`${head},"choices":[]}`)
  addFields(payloads, 0, buildFirstExtras(body))
  addFields(payloads, payloads.length - 1, buildLastExtras(body))
  if (usage !== null) payloads.push(JSON.stringify({ ...buildEnvelope(body, false), choices: [], usage }))
  return payloads
}

/** Encodes the payloads as an event stream that ends with `[DONE]`. */
export function encodeSseStream(payloads: readonly string[]): Uint8Array {
  const events = payloads.map(payload => `data: ${payload}\n\n`)
  return new TextEncoder().encode(`${events.join('')}data: [DONE]\n\n`)
}

function splitChoices(body: JsonObject): string[] {
  const split = asObjects(readField(body, 'choices')).map(splitChoice)
  const interleaved: string[] = []
  const maxSteps = Math.max(0, ...split.map(steps => steps.length))
  for (let position = 0; position < maxSteps; position++) {
    for (const steps of split) {
      const step = steps[position]
      if (step !== undefined) interleaved.push(JSON.stringify(step))
    }
  }
  return interleaved
}

function buildEnvelope(body: JsonObject, hasNullUsage: boolean): JsonObject {
  const isLegacy = readField(body, 'object') === 'text_completion'
  const envelope: JsonObject = {}
  for (const key in body) if (REPEATED_KEYS.has(key)) envelope[key] = body[key]
  envelope.object = isLegacy ? 'text_completion' : 'chat.completion.chunk'
  // With include_usage, OpenAI sends `usage: null` in every chunk except the last.
  if (hasNullUsage) envelope.usage = null
  return envelope
}

function buildFirstExtras(body: JsonObject): JsonObject {
  const extras: JsonObject = {}
  for (const key in body) if (!KNOWN_KEYS.has(key)) writeField(extras, key, body[key])
  return extras
}

/** Returns Groq's `x_groq` with the usage for the last chunk, where Groq's clients read it even if they did not request it. */
function buildLastExtras(body: JsonObject): JsonObject {
  const groq = readField(body, 'x_groq')
  const usage = readField(body, 'usage')
  return isJsonObject(groq) && isJsonObject(usage) ? { x_groq: { ...groq, usage } } : {}
}

function addFields(payloads: string[], at: number, fields: JsonObject): void {
  const payload = payloads[at]
  const added = JSON.stringify(fields)
  if (payload !== undefined && added !== '{}') payloads[at] = `${payload.slice(0, -1)},${added.slice(1)}`
}

/** Returns choices of the form `{ index, delta, logprobs, finish_reason }`; in legacy completions `{ index, text, … }`. */
export function splitChoice(choice: JsonObject, position: number): JsonObject[] {
  const index = readField(choice, 'index') ?? position
  const message = readField(choice, 'message')
  const isLegacy = !isJsonObject(message)
  const { deltas, unassignedLogprobs } = isLegacy
    ? splitLegacy(choice)
    : splitChatMessage(message, readField(choice, 'logprobs'))
  const ends: JsonObject = isLegacy ? { text: '' } : { delta: {} }
  const { message: _message, text: _text, logprobs: _logprobs, index: _index, ...fields } = choice
  const blank = Object.hasOwn(choice, 'logprobs') ? { logprobs: null } : {}
  const chunks = deltas.map(step => ({ index, ...blank, ...step, finish_reason: null }))
  return [
    ...chunks,
    {
      index,
      ...ends,
      ...blank,
      ...(unassignedLogprobs === undefined ? {} : { logprobs: unassignedLogprobs }),
      ...fields,
    },
  ]
}

function splitLegacy(choice: JsonObject): MessageDeltas {
  const text = readField(choice, 'text')
  const logprobs = readField(choice, 'logprobs') ?? undefined
  if (typeof text !== 'string') return { deltas: [], unassignedLogprobs: logprobs }
  const tokens = isJsonObject(logprobs) ? readField(logprobs, 'tokens') : undefined
  if (!isJsonObject(logprobs) || !isTokensOf(tokens, text)) {
    return { deltas: chunkText(text).map(piece => ({ text: piece })), unassignedLogprobs: logprobs }
  }
  const steps = groupTokens(tokens).map(({ start, end }) => ({
    text: tokens.slice(start, end).join(''),
    logprobs: sliceParallel(logprobs, tokens.length, start, end),
  }))
  return { deltas: steps, unassignedLogprobs: steps.length === 0 ? logprobs : undefined }
}

function isTokensOf(tokens: unknown, text: string): tokens is string[] {
  return Array.isArray(tokens) && tokens.every(token => typeof token === 'string') && tokens.join('') === text
}

/** Returns the slice of legacy log probabilities, which are parallel lists. All other fields go with the first step. */
function sliceParallel(logprobs: JsonObject, count: number, start: number, end: number): JsonObject {
  const part: JsonObject = {}
  for (const key in logprobs) {
    const value = logprobs[key]
    if (Array.isArray(value) && value.length === count) part[key] = value.slice(start, end)
    else if (start === 0) part[key] = value
  }
  return part
}

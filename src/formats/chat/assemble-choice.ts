/** Assembles one choice of a streamed response. */

import { asNumber, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { mergeDelta, mergeLatestValue, mergeLogprobs } from './merge-delta.ts'

export interface AssembledChoice {
  index: number
  /** The chat message so far; null in legacy completions, which have their text among the fields. */
  message: JsonObject | null
  /** All other fields of the choice, such as `finish_reason` and `logprobs`. */
  fields: JsonObject
  isLegacy: boolean
}

export function createChoice(index: number): AssembledChoice {
  return { index, message: null, fields: {}, isLegacy: false }
}

/** Adds a chunk's choice. Returns false when a field changes its type within the stream. */
export function mergeChoiceChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  if (typeof chunk.text === 'string' && !isJsonObject(chunk.delta)) choice.isLegacy = true
  return choice.isLegacy ? mergeLegacyChunk(choice, chunk) : mergeChatChunk(choice, chunk)
}

function mergeChatChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  let sound = true
  for (const key in chunk) {
    const value = chunk[key]
    if (key === 'delta') sound = mergeMessage(choice, value)
    else if (key === 'logprobs') mergeLogprobs(choice.fields, value)
    else if (key === 'message') replaceMessage(choice, chunk)
    else if (key !== 'index') mergeLatestValue(choice.fields, key, value)
  }
  return sound
}

function mergeMessage(choice: AssembledChoice, delta: unknown): boolean {
  if (!isJsonObject(delta)) return true
  choice.message ??= {}
  return mergeDelta(choice.message, delta)
}

/** Some servers stream one whole message. Others repeat the whole text so far beside each delta, which is ignored. */
function replaceMessage(choice: AssembledChoice, chunk: JsonObject): void {
  const message = readField(chunk, 'message')
  if (isJsonObject(message) && !isJsonObject(readField(chunk, 'delta'))) choice.message = message
}

/** In legacy completions the choice itself is the delta, except for its log probabilities. */
function mergeLegacyChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  const { index: _index, logprobs, ...delta } = chunk
  if (logprobs !== undefined) mergeLogprobs(choice.fields, logprobs)
  return mergeDelta(choice.fields, delta)
}

/** Returns the choice as a plain response holds it. */
export function finishChoice(choice: AssembledChoice): JsonObject {
  if (choice.message === null) return { index: choice.index, ...choice.fields }
  const finished: JsonObject = { index: choice.index, message: choice.message, ...choice.fields }
  finishToolCalls(choice.message, Object.hasOwn(choice.fields, 'native_finish_reason'))
  if (hasWholeAudio(choice.message)) finished.finish_reason ??= 'stop'
  return finished
}

/** Streamed tool calls are numbered by `index`. In plain responses only aggregators keep the numbers. */
function finishToolCalls(message: JsonObject, keepsNumbers: boolean): void {
  const calls = readField(message, 'tool_calls')
  if (!Array.isArray(calls)) return
  const ordered = calls.filter(isJsonObject).sort((a, b) => asNumber(a.index) - asNumber(b.index))
  for (const [position, call] of ordered.entries()) {
    if (keepsNumbers) call.index = position
    else delete call.index
  }
  message.tool_calls = ordered
}

/** OpenAI ends streamed audio with its expiry time and no `finish_reason`. A plain response has `stop` there. */
function hasWholeAudio(message: JsonObject): boolean {
  const audio = readField(message, 'audio')
  return isJsonObject(audio) && ['id', 'data', 'transcript', 'expires_at'].every(key => readField(audio, key) != null)
}

/** Assembles one choice of a streamed response. */

import { asNumber, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { mergeDelta, mergeLatestValue, mergeLogprobs } from './merge-delta.ts'

export interface AssembledChoice {
  index: number
  /** The chat message so far; null in legacy completions, which have their text in `fields`. */
  message: JsonObject | null
  /** All other fields of the choice, such as `finish_reason` and `logprobs`. */
  fields: JsonObject
  isLegacy: boolean
}

export function createChoice(index: number): AssembledChoice {
  return { index, message: null, fields: {}, isLegacy: false }
}

/** Merges a chunk's choice. Returns false when a field changes its type within the stream. */
export function mergeChoiceChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  if (typeof chunk.text === 'string' && !isJsonObject(chunk.delta)) choice.isLegacy = true
  return choice.isLegacy ? mergeLegacyChunk(choice, chunk) : mergeChatChunk(choice, chunk)
}

function mergeChatChunk(choice: AssembledChoice, chunk: JsonObject): boolean {
  let isConsistent = true
  for (const key in chunk) {
    const value = chunk[key]
    if (key === 'delta') isConsistent = mergeMessage(choice, value)
    else if (key === 'logprobs') mergeLogprobs(choice.fields, value)
    else if (key === 'message') replaceMessage(choice, chunk)
    else if (key !== 'index') mergeLatestValue(choice.fields, key, value)
  }
  return isConsistent
}

function mergeMessage(choice: AssembledChoice, delta: unknown): boolean {
  if (!isJsonObject(delta)) return true
  choice.message ??= {}
  return mergeDelta(choice.message, delta)
}

/** Sets a message that a server streams whole. If the chunk also has a delta, the message repeats the text so far and is ignored. */
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

/** Returns the choice in the form of a plain response. */
export function finishChoice(choice: AssembledChoice): JsonObject {
  if (choice.message === null) return { index: choice.index, ...choice.fields }
  const finished: JsonObject = { index: choice.index, message: choice.message, ...choice.fields }
  finishToolCalls(choice.message, Object.hasOwn(choice.fields, 'native_finish_reason'))
  if (hasWholeAudio(choice.message)) finished.finish_reason ??= 'stop'
  return finished
}

/** Orders the tool calls and removes `index`, which streamed calls have. In plain responses, only aggregators' calls keep it. */
function finishToolCalls(message: JsonObject, keepsIndexes: boolean): void {
  const calls = readField(message, 'tool_calls')
  if (!Array.isArray(calls)) return
  const ordered = calls.filter(isJsonObject).sort((a, b) => asNumber(a.index) - asNumber(b.index))
  for (const [position, call] of ordered.entries()) {
    if (keepsIndexes) call.index = position
    else delete call.index
  }
  message.tool_calls = ordered
}

/** OpenAI ends streamed audio with its expiry time and no `finish_reason`. A plain response has `stop` there. */
function hasWholeAudio(message: JsonObject): boolean {
  const audio = readField(message, 'audio')
  return isJsonObject(audio) && ['id', 'data', 'transcript', 'expires_at'].every(key => readField(audio, key) != null)
}

/** Assembles one choice of a streamed response. */

import { isJsonObject, type JsonObject, readField } from '../json/json-object.ts'
import { mergeDelta } from './merge-delta.ts'
import { mergeLogprobs, mergeState } from './merge-state.ts'

export interface Choice {
  index: number
  /** The chat message so far; null for a legacy completion, whose text is in `fields`. */
  message: JsonObject | null
  /** Every other field of the choice, including `finish_reason` and `logprobs`. */
  fields: JsonObject
  isLegacy: boolean
}

export function createChoice(index: number): Choice {
  return { index, message: null, fields: {}, isLegacy: false }
}

/** Adds a chunk's choice. Returns false when a field changed its type between chunks. */
export function mergeChoice(choice: Choice, chunk: JsonObject): boolean {
  if (typeof chunk.text === 'string' && !isJsonObject(chunk.delta)) choice.isLegacy = true
  return choice.isLegacy ? mergeLegacyChunk(choice, chunk) : mergeChatChunk(choice, chunk)
}

function mergeChatChunk(choice: Choice, chunk: JsonObject): boolean {
  let sound = true
  for (const key in chunk) {
    const value = chunk[key]
    if (key === 'delta') sound = mergeMessage(choice, value)
    else if (key === 'logprobs') mergeLogprobs(choice.fields, value)
    else if (key === 'message') replaceMessage(choice, chunk)
    else if (key !== 'index') mergeState(choice.fields, key, value)
  }
  return sound
}

function mergeMessage(choice: Choice, delta: unknown): boolean {
  if (!isJsonObject(delta)) return true
  choice.message ??= {}
  return mergeDelta(choice.message, delta)
}

/** Some servers stream a whole message in one chunk; others repeat the message so far beside each delta, which adds nothing. */
function replaceMessage(choice: Choice, chunk: JsonObject): void {
  const message = readField(chunk, 'message')
  if (isJsonObject(message) && !isJsonObject(readField(chunk, 'delta'))) choice.message = message
}

/** Legacy completions have no delta: the choice is one itself, except for its log probabilities. */
function mergeLegacyChunk(choice: Choice, chunk: JsonObject): boolean {
  const { index: _index, logprobs, ...delta } = chunk
  if (logprobs !== undefined) mergeLogprobs(choice.fields, logprobs)
  return mergeDelta(choice.fields, delta)
}

/** Returns the choice as in a plain response. */
export function finishChoice(choice: Choice): JsonObject {
  if (choice.message === null) return { index: choice.index, ...choice.fields }
  const finished: JsonObject = { index: choice.index, message: choice.message, ...choice.fields }
  finishToolCalls(choice.message, Object.hasOwn(choice.fields, 'native_finish_reason'))
  if (isSpoken(choice.message)) finished.finish_reason ??= 'stop'
  return finished
}

/** Streamed tool calls have numbers. Plain responses list them in order, and only aggregators number them, too. */
function finishToolCalls(message: JsonObject, keepsNumbers: boolean): void {
  const calls = readField(message, 'tool_calls')
  if (!Array.isArray(calls)) return
  const ordered = calls.filter(isJsonObject).sort((a, b) => Number(a.index) - Number(b.index))
  for (const [position, call] of ordered.entries()) {
    if (keepsNumbers) call.index = position
    else delete call.index
  }
  message.tool_calls = ordered
}

/** OpenAI ends streamed audio with its expiry time and without a `finish_reason`; the plain response has `stop`. */
function isSpoken(message: JsonObject): boolean {
  const audio = readField(message, 'audio')
  return isJsonObject(audio) && ['id', 'data', 'transcript', 'expires_at'].every(key => readField(audio, key) != null)
}

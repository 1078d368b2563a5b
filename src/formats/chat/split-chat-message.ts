/** Splits a chat message into deltas: the role first, then reasoning, text, audio and calls. */
import { isJsonObject, type JsonObject, readField, writeField } from '../json/canonical.ts'
import { chunkText, groupTokens } from './chunk-text.ts'
import { isUnfragmentedKey } from './merge-delta.ts'

export interface MessageDeltas {
  /** The deltas in order: `{ delta }` or `{ text }`, each with the `logprobs` of its own tokens. */
  deltas: JsonObject[]
  /** The log probabilities that could not be assigned to steps; undefined when none are left. */
  unassignedLogprobs: unknown
}

/** Length of a piece of Base64. It is a multiple of four, so that each piece can be decoded separately. */
const AUDIO_PIECE_CHARS = 8192
/** Fields that upstreams send after the text. Other fields are sent before it, like reasoning. */
const CLOSING_KEYS = new Set(['annotations', 'images'])

/** Returns the deltas of a message, each with the log probabilities of its own tokens. */
export function splitChatMessage(message: JsonObject, logprobs: unknown): MessageDeltas {
  const opening: JsonObject = {}
  const before: JsonObject[] = []
  const after: JsonObject[] = []
  for (const key in message) {
    const value = message[key]
    if (key === 'content' && typeof value === 'string') opening.content = ''
    else if (isOpening(key, value)) writeField(opening, key, value)
    else if (!isSplittable(key, value)) (CLOSING_KEYS.has(key) ? after : before).push({ [key]: value })
  }
  const shares = assignLogprobs(message, logprobs)
  const called = [...splitFunctionCall(message), ...splitToolCalls(message)]
  const steps = [
    ...[opening, ...before].map(toStep),
    ...splitText(message, 'content', shares),
    ...splitText(message, 'refusal', shares),
    ...[...splitAudio(message), ...called, ...after].map(toStep),
  ]
  return { deltas: steps, unassignedLogprobs: shares.unassigned }
}

function toStep(delta: JsonObject): JsonObject {
  return { delta }
}

/** Whether a field belongs in the first delta, with the role and all other fields that are not split. */
function isOpening(key: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (typeof value === 'string') return value === '' || isUnfragmentedKey(key)
  return typeof value !== 'object' || value === null
}

/** Whether a field is split. Unknown strings are sent whole, which is correct both for clients that append and for clients that replace. */
function isSplittable(key: string, value: unknown): boolean {
  if (key === 'content' || key === 'refusal') return typeof value === 'string'
  if (key === 'audio' || key === 'function_call') return isJsonObject(value)
  return key === 'tool_calls' && areToolCalls(value)
}

function areToolCalls(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject)
}

function splitText(message: JsonObject, field: 'content' | 'refusal', shares: LogprobAssignment): JsonObject[] {
  const text = readField(message, field)
  if (typeof text !== 'string') return []
  const tokens = shares.tokens[field]
  if (tokens === undefined) return chunkText(text).map(piece => toStep({ [field]: piece }))
  return groupTokens(tokens).map(({ start, end }) => ({
    delta: { [field]: tokens.slice(start, end).join('') },
    logprobs: shares.takeRange(field, start, end),
  }))
}

/** Returns the object with '' for its long string first, then the pieces of that string. */
function splitField(object: JsonObject, field: string): JsonObject[] {
  const text = readField(object, field)
  if (typeof text !== 'string') return [object]
  return [{ ...object, [field]: '' }, ...chunkText(text).map(piece => ({ [field]: piece }))]
}

function splitFunctionCall(message: JsonObject): JsonObject[] {
  const call = readField(message, 'function_call')
  return isJsonObject(call) ? splitField(call, 'arguments').map(part => ({ function_call: part })) : []
}

function splitToolCalls(message: JsonObject): JsonObject[] {
  const calls = readField(message, 'tool_calls')
  return areToolCalls(calls) ? calls.flatMap(splitToolCall).map(part => ({ tool_calls: [part] })) : []
}

function splitToolCall(call: JsonObject, index: number): JsonObject[] {
  const { index: _index, ...fields } = call
  const kind = isJsonObject(readField(call, 'function')) ? 'function' : 'custom'
  const called = readField(call, kind)
  if (!isJsonObject(called)) return [{ index, ...fields }]
  const [first, ...rest] = splitField(called, kind === 'function' ? 'arguments' : 'input')
  return [{ index, ...fields, [kind]: first }, ...rest.map(part => ({ index, [kind]: part }))]
}

/** Splits audio. The expiry time is sent last and separately, because clients treat it as the end of the audio. */
function splitAudio(message: JsonObject): JsonObject[] {
  const audio = readField(message, 'audio')
  if (!isJsonObject(audio)) return []
  const { expires_at: expiresAt, ...rest } = audio
  const [opening, ...transcript] = splitField(rest, 'transcript')
  const data = readField(rest, 'data')
  const parts = [typeof data === 'string' ? { ...opening, data: '' } : { ...opening }, ...transcript]
  if (typeof data === 'string') parts.push(...splitBase64(data).map(piece => ({ data: piece })))
  if (expiresAt !== undefined) parts.push({ expires_at: expiresAt })
  return parts.map(part => ({ audio: part }))
}

function splitBase64(data: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < data.length; at += AUDIO_PIECE_CHARS) pieces.push(data.slice(at, at + AUDIO_PIECE_CHARS))
  return pieces
}

type Field = 'content' | 'refusal'

interface LogprobAssignment {
  /** The tokens of each field, if they are known and their concatenation equals the field. */
  tokens: { [field in Field]?: string[] }
  /** The log probabilities of tokens `start` to `end` of a field. The first call also returns everything that is not per token. */
  takeRange(field: Field, start: number, end: number): JsonObject
  /** All log probabilities, when no field's tokens can be assigned. */
  unassigned: unknown
}

/** Creates the assignment. `logprobs` are those of a plain response's choice: `{ content, refusal }`, null, or undefined. */
function assignLogprobs(message: JsonObject, logprobs: unknown): LogprobAssignment {
  const tokens: LogprobAssignment['tokens'] = {}
  if (!isJsonObject(logprobs)) return { tokens, takeRange: () => ({}), unassigned: logprobs ?? undefined }
  const rest: JsonObject = {}
  const blank: JsonObject = {}
  for (const key in logprobs) {
    const fieldTokens = isField(key) ? readTokens(logprobs[key], readField(message, key)) : undefined
    if (isField(key)) blank[key] = null
    if (isField(key) && fieldTokens !== undefined) tokens[key] = fieldTokens
    else rest[key] = logprobs[key]
  }
  let unshared = rest
  return {
    tokens,
    takeRange(field, start, end) {
      const entries = logprobs[field]
      const share = { ...blank, ...unshared, [field]: Array.isArray(entries) ? entries.slice(start, end) : null }
      unshared = {}
      return share
    },
    unassigned: Object.keys(tokens).length === 0 ? logprobs : undefined,
  }
}

function isField(key: string): key is Field {
  return key === 'content' || key === 'refusal'
}

/** Returns undefined when the tokens do not add up to the text, for example because a token is a part of a character. */
function readTokens(entries: unknown, text: unknown): string[] | undefined {
  if (!Array.isArray(entries) || entries.length === 0) return undefined
  const tokens = entries.map(entry => (isJsonObject(entry) ? readField(entry, 'token') : undefined))
  return tokens.every(token => typeof token === 'string') && tokens.join('') === text ? tokens : undefined
}

/** Splits one choice of a plain response into the choices of successive chunks. */

import { isJsonObject, type JsonObject, readField } from '../json/json-object.ts'
import { cutText, groupTokens } from './cut-text.ts'
import { type Steps, splitMessage } from './split-message.ts'

/** Returns choices of the form `{ index, delta, logprobs, finish_reason }`; in legacy completions `{ index, text, … }`. */
export function splitChoice(choice: JsonObject, position: number): JsonObject[] {
  const index = readField(choice, 'index') ?? position
  const message = readField(choice, 'message')
  const isLegacy = !isJsonObject(message)
  const { steps, leftover } = isLegacy ? splitLegacy(choice) : splitMessage(message, readField(choice, 'logprobs'))
  const ends: JsonObject = isLegacy ? { text: '' } : { delta: {} }
  const { message: _message, text: _text, logprobs: _logprobs, index: _index, ...fields } = choice
  const blank = Object.hasOwn(choice, 'logprobs') ? { logprobs: null } : {}
  const chunks = steps.map(step => ({ index, ...blank, ...step, finish_reason: null }))
  return [...chunks, { index, ...ends, ...blank, ...(leftover === undefined ? {} : { logprobs: leftover }), ...fields }]
}

function splitLegacy(choice: JsonObject): Steps {
  const text = readField(choice, 'text')
  const logprobs = readField(choice, 'logprobs') ?? undefined
  if (typeof text !== 'string') return { steps: [], leftover: logprobs }
  const tokens = isJsonObject(logprobs) ? readField(logprobs, 'tokens') : undefined
  if (!isJsonObject(logprobs) || !isTokensOf(tokens, text)) {
    return { steps: cutText(text).map(piece => ({ text: piece })), leftover: logprobs }
  }
  const steps = groupTokens(tokens).map(({ start, end }) => ({
    text: tokens.slice(start, end).join(''),
    logprobs: sliceParallel(logprobs, tokens.length, start, end),
  }))
  return { steps, leftover: steps.length === 0 ? logprobs : undefined }
}

function isTokensOf(tokens: unknown, text: string): tokens is string[] {
  return Array.isArray(tokens) && tokens.every(token => typeof token === 'string') && tokens.join('') === text
}

/** Legacy log probabilities are parallel lists. Everything else goes with the first step. */
function sliceParallel(logprobs: JsonObject, count: number, start: number, end: number): JsonObject {
  const part: JsonObject = {}
  for (const key in logprobs) {
    const value = logprobs[key]
    if (Array.isArray(value) && value.length === count) part[key] = value.slice(start, end)
    else if (start === 0) part[key] = value
  }
  return part
}

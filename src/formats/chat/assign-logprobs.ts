/** Assigns log probabilities to the pieces of a chat message by the tokens of each piece. */

import { isJsonObject, type JsonObject, readField } from '../json/canonical.ts'

type Field = 'content' | 'refusal'

export interface LogprobAssignment {
  /** The tokens of each field, if they are known and their concatenation equals the field. */
  tokens: { [field in Field]?: string[] }
  /** The log probabilities of tokens `start` to `end` of a field. The first call also returns everything that is not per token. */
  takeRange(field: Field, start: number, end: number): JsonObject
  /** All log probabilities, when no field's tokens can be assigned. */
  unassigned: unknown
}

/** Creates the assignment. `logprobs` are those of a plain response's choice: `{ content, refusal }`, null, or undefined. */
export function assignLogprobs(message: JsonObject, logprobs: unknown): LogprobAssignment {
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

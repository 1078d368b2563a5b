/** Translates output limits, stop sequences and sampling parameters. */

import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readNumber, readOptional, readPositiveInteger, readString } from '../../../formats/json/read-fields.ts'
import type { MessagesRequest } from '../messages-request.ts'

/** The default for a model with an unknown output limit. Every model that Anthropic serves allows at least twice as much. */
const DEFAULT_MAX_TOKENS = 32_000

/** Returns the request's output limit, or else the model's. `limit` is the largest number of tokens that the model can write; null when unknown. */
export function readMaxTokens(body: JsonObject, limit: number | null): number {
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const requested = readOptional(body, field)
    if (requested !== undefined) return readPositiveInteger(requested, field)
  }
  return limit ?? DEFAULT_MAX_TOKENS
}

/** The upper bound on the total characters of local stop sequences, which are searched in each piece of a response. */
const MAX_LOCAL_CHARS = 256

export interface StopSequences {
  /** The sequences that are sent to Anthropic, which accepts none of white space only. */
  upstream: string[]
  /** The sequences at which the proxy itself ends the response. */
  local: string[]
}

export function translateStopSequences(body: JsonObject): StopSequences {
  const stop = readOptional(body, 'stop') ?? []
  const sequences = (Array.isArray(stop) ? stop : [stop]).map(sequence => readString(sequence, 'stop'))
  if (sequences.includes('')) throw invalidRequestError('stop must not be an empty string.', 'stop')
  const { upstream = [], local = [] } = Object.groupBy(sequences, sequence =>
    sequence.trim() === '' ? 'local' : 'upstream',
  )
  if (local.join('').length > MAX_LOCAL_CHARS)
    throw invalidRequestError(
      `stop must have at most ${MAX_LOCAL_CHARS} characters in sequences of white space for Claude models.`,
      'stop',
    )
  return { upstream, local }
}

type Sampling = Pick<MessagesRequest, 'temperature' | 'top_p' | 'top_k'>

/** Returns the values that differ from Anthropic's default of 1. Throws a 400 for them with thinking, with which Anthropic accepts no other value. */
export function translateSampling(body: JsonObject, isThinkingRequested: boolean): Sampling {
  const temperature = readShare(body, 'temperature', 'OpenAI’s range ends at 2, Anthropic’s at 1.')
  const topP = readShare(body, 'top_p', '')
  const topK = readOptional(body, 'top_k')
  if (temperature !== undefined && topP !== undefined) {
    throw invalidRequestError(
      'top_p must not be set together with temperature: Anthropic accepts only one of them.',
      'top_p',
    )
  }
  const sampling: Sampling = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: readPositiveInteger(topK, 'top_k') }),
  }
  const [field] = Object.keys(sampling)
  if (field === undefined || !isThinkingRequested) return sampling
  throw invalidRequestError(
    `${field} must not be set together with reasoning_effort on Claude models. Omit one of them.`,
    field,
  )
}

function readShare(body: JsonObject, field: string, hint: string): number | undefined {
  const value = readOptional(body, field)
  if (value === undefined || value === 1) return undefined
  if (typeof value === 'number' && value > 1) {
    throw invalidRequestError(`${field} must be at most 1 for Claude models. ${hint}`.trim(), field)
  }
  return readNumber(value, field, 0, 1)
}

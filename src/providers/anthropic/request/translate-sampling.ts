/** Translates output limits, stop sequences and sampling parameters. */

import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readNumber, readOptional, readPositiveInteger, readString } from '../../../formats/json/read-fields.ts'
import type { MessagesRequest } from '../messages-request.ts'

/** For a model with an unknown output limit. Every model that Anthropic serves allows at least twice as much. */
const DEFAULT_MAX_TOKENS = 32_000

/** `limit` is the most that the model can write; null when unknown. */
export function readMaxTokens(body: JsonObject, limit: number | null): number {
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const given = readOptional(body, field)
    if (given !== undefined) return readPositiveInteger(given, field)
  }
  return limit ?? DEFAULT_MAX_TOKENS
}

/** They are looked for in each piece of an answer. */
const MOST_OWN_CHARS = 256

export interface StopSequences {
  /** Sent to Anthropic, which accepts none of white space only. */
  upstream: string[]
  /** Handled by the proxy. */
  local: string[]
}

export function translateStopSequences(body: JsonObject): StopSequences {
  const stop = readOptional(body, 'stop') ?? []
  const sequences = (Array.isArray(stop) ? stop : [stop]).map(sequence => readString(sequence, 'stop'))
  if (sequences.includes('')) throw invalidRequestError('stop must not be an empty string.', 'stop')
  const { sent = [], own = [] } = Object.groupBy(sequences, sequence => (sequence.trim() === '' ? 'own' : 'sent'))
  if (own.join('').length > MOST_OWN_CHARS)
    throw invalidRequestError(
      `stop must have at most ${MOST_OWN_CHARS} characters of white space alone for Claude models.`,
      'stop',
    )
  return { upstream: sent, local: own }
}

type Sampling = Pick<MessagesRequest, 'temperature' | 'top_p' | 'top_k'>

/** Returns the values that differ from Anthropic's default of 1. With thinking, Anthropic accepts no other value. */
export function translateSampling(body: JsonObject, asksForThinking: boolean): Sampling {
  const temperature = readShare(body, 'temperature', 'OpenAI’s range goes on to 2, Anthropic’s ends at 1.')
  const topP = readShare(body, 'top_p', '')
  const topK = readOptional(body, 'top_k')
  if (temperature !== undefined && topP !== undefined) {
    throw invalidRequestError('top_p: Anthropic takes temperature or top_p, not both.', 'top_p')
  }
  const sampling: Sampling = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: readPositiveInteger(topK, 'top_k') }),
  }
  const [field] = Object.keys(sampling)
  if (field === undefined || !asksForThinking) return sampling
  throw invalidRequestError(
    `${field} cannot be set beside reasoning_effort on Claude models; leave one of them out.`,
    field,
  )
}

function readShare(body: JsonObject, field: string, hint: string): number | undefined {
  const given = readOptional(body, field)
  if (given === undefined || given === 1) return undefined
  if (typeof given === 'number' && given > 1) {
    throw invalidRequestError(`${field} must be at most 1 for Claude models. ${hint}`.trim(), field)
  }
  return readNumber(given, field, 0, 1)
}

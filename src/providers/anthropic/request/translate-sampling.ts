/** Translates output limits, stop sequences and sampling parameters. */

import { invalidRequest } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readGiven, readNumber, readPositiveInteger, readText } from '../../../formats/json/read-fields.ts'
import type { MessagesRequest } from '../messages-request.ts'

/** For a model with an unknown output limit. Every model that Anthropic serves allows at least twice as much. */
const DEFAULT_MAX_TOKENS = 32_000

/** `limit` is the most that the model can write; null when unknown. */
export function readMaxTokens(body: JsonObject, limit: number | null): number {
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const given = readGiven(body, field)
    if (given !== undefined) return readPositiveInteger(given, field)
  }
  return limit ?? DEFAULT_MAX_TOKENS
}

/** They are looked for in each piece of an answer. */
const MOST_OWN_CHARS = 256

export interface StopSequences {
  /** Sent to Anthropic, which accepts none of white space only. */
  sent: string[]
  /** Handled by the proxy. */
  own: string[]
}

export function translateStop(body: JsonObject): StopSequences {
  const stop = readGiven(body, 'stop') ?? []
  const sequences = (Array.isArray(stop) ? stop : [stop]).map(sequence => readText(sequence, 'stop'))
  if (sequences.includes('')) throw invalidRequest('stop must not be an empty string.', 'stop')
  const { sent = [], own = [] } = Object.groupBy(sequences, sequence => (sequence.trim() === '' ? 'own' : 'sent'))
  if (own.join('').length > MOST_OWN_CHARS)
    throw invalidRequest(
      `stop must have at most ${MOST_OWN_CHARS} characters of white space alone for Claude models.`,
      'stop',
    )
  return { sent, own }
}

type Sampling = Pick<MessagesRequest, 'temperature' | 'top_p' | 'top_k'>

/** Returns the values that differ from Anthropic's default of 1. With thinking, Anthropic accepts no other value. */
export function translateSampling(body: JsonObject, asksForThinking: boolean): Sampling {
  const temperature = readShare(body, 'temperature', 'OpenAI’s range goes on to 2, Anthropic’s ends at 1.')
  const topP = readShare(body, 'top_p', '')
  const topK = readGiven(body, 'top_k')
  if (temperature !== undefined && topP !== undefined) {
    throw invalidRequest('top_p: Anthropic takes temperature or top_p, not both.', 'top_p')
  }
  const sampling: Sampling = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: readPositiveInteger(topK, 'top_k') }),
  }
  const [field] = Object.keys(sampling)
  if (field === undefined || !asksForThinking) return sampling
  throw invalidRequest(`${field} cannot be set beside reasoning_effort on Claude models; leave one of them out.`, field)
}

function readShare(body: JsonObject, field: string, hint: string): number | undefined {
  const given = readGiven(body, field)
  if (given === undefined || given === 1) return undefined
  if (typeof given === 'number' && given > 1) {
    throw invalidRequest(`${field} must be at most 1 for Claude models. ${hint}`.trim(), field)
  }
  return readNumber(given, field, 0, 1)
}

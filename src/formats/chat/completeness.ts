/** Says which responses are complete. Only those may be stored, because a stored response is served to other requests. */

import {
  areCompleteArguments,
  type ExpectedOutput,
  hasExpectedTextFormat,
  isTruncatedByProvider,
} from '../expected-output.ts'
import { isBlank, isJsonObject, isPresent, type JsonObject, readField } from '../json/canonical.ts'
import { readContentParts, textOfContent } from './content-parts.ts'
import { classifyFinishReason, isContentFilter } from './finish-reason.ts'
import { readReasoningText } from './reasoning-text.ts'

/** Why a response must not be stored. */
export type IncompleteReason =
  /** The body is not an object with at least one choice. */
  | 'not_an_answer'
  /** An `error` object inside a 200 body: aggregators report a provider's failure that way. */
  | 'error_in_body'
  /** An `error` object inside one of the choices, or `finish_reason: 'error'`. */
  | 'error_in_choice'
  /** A choice has neither a message nor a text. */
  | 'empty_choice'
  /** A choice ended without a word, a call, a refusal, a picture or a sound. A retry may well return something. */
  | 'nothing_said'
  /** A choice ended regularly with nothing to show, although the provider counts output tokens. */
  | 'no_output'
  /** A choice has no `finish_reason`: it was not finished. */
  | 'unfinished_choice'
  /** A filter withheld or cut the response. A retry may well pass. */
  | 'content_filter'
  /** Cut at the provider's own length limit: the client had set none, or a far higher one. */
  | 'provider_length_limit'
  /** A `finish_reason` that is not documented as an end of any kind. */
  | 'unknown_finish_reason'
  /** The response goes on in a later request: a paused turn, or a response that is made in the background. */
  | 'pending'
  /** It ended in a way that its own vendor may have added; the client knows what to make of it. */
  | 'unknown_stop_reason'
  /** The bytes are not valid UTF-8, and entries are stored as text. */
  | 'not_utf8'
  /** The client's format has no place for a part of it. */
  | 'omitted_parts'
  /** An error object within the stream. */
  | 'error_in_stream'
  /** A chunk of the stream was not a JSON object. */
  | 'malformed_chunk'
  /** A field changed its type within the stream, so that its parts cannot be merged. */
  | 'inconsistent_chunks'
  /** Fewer choices or vectors than were asked for. */
  | 'too_few'
  /** The arguments of a call are no JSON: they were probably cut. */
  | 'cut_arguments'
  /** The text is no JSON, although JSON was asked for. */
  | 'no_json'
  /** No tool is called, although one had to be. */
  | 'no_call'
  /** Vectors of another length than was asked for, or of several lengths. */
  | 'other_dimensions'
  /** Longer than any provider's response. It is not kept in memory. */
  | 'too_large'
  /** The stream ended without a closing event or a reason for its end. */
  | 'missing_end'

export type Completeness = 'whole' | IncompleteReason

const UPSTREAM_FAILURES: ReadonlySet<Completeness> = new Set<Completeness>([
  'not_an_answer',
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
  'empty_choice',
  'no_output',
  'unfinished_choice',
  'unknown_finish_reason',
  'malformed_chunk',
  'missing_end',
])

/** Whether a response with status 200 is a failure of its provider. It does not count against the monthly quota. */
export function isUpstreamFailure(completeness: Completeness): boolean {
  return UPSTREAM_FAILURES.has(completeness)
}

/** What a stream comes to, of which `flaw` was seen on the way: a failure outranks whatever else makes it incomplete. */
export function combineCompleteness(flaw: IncompleteReason | null, judged: Completeness): Completeness {
  if (flaw === null) return judged
  return isUpstreamFailure(judged) && !isUpstreamFailure(flaw) ? judged : flaw
}

/** Says whether the body of a 200 is complete: a plain chat or legacy completion, or an assembled stream. */
export function completenessOf(body: unknown, wanted: ExpectedOutput): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (isPresent(readField(body, 'error'))) return 'error_in_body'
  const choices = readField(body, 'choices')
  if (!Array.isArray(choices) || choices.length === 0) return 'not_an_answer'
  const outputTokens = readOutputTokens(body)
  for (const choice of choices) {
    const completeness = isJsonObject(choice) ? completenessOfChoice(choice, wanted, outputTokens) : 'not_an_answer'
    if (completeness !== 'whole') return completeness
  }
  return choices.length < (wanted.count ?? 1) ? 'too_few' : 'whole'
}

/** Of all choices together; null when they are not known. */
function readOutputTokens({ usage }: JsonObject): number | null {
  const count = isJsonObject(usage) ? readField(usage, 'completion_tokens') : undefined
  return typeof count === 'number' ? count : null
}

function completenessOfChoice(choice: JsonObject, wanted: ExpectedOutput, outputTokens: number | null): Completeness {
  const finishReason = readField(choice, 'finish_reason')
  if (isPresent(readField(choice, 'error')) || finishReason === 'error') return 'error_in_choice'
  if (typeof finishReason !== 'string' || finishReason === '')
    return isEmptyChoice(choice) ? 'empty_choice' : 'unfinished_choice'
  const ending = classifyFinishReason(finishReason)
  if (ending === 'filtered' || hasNativeFilter(choice)) return 'content_filter'
  if (ending === 'failed') return 'unknown_finish_reason'
  if (isEmptyChoice(choice)) return 'empty_choice'
  if (ending === 'length' && isTruncatedByProvider(wanted, outputTokens)) return 'provider_length_limit'
  if (hasContent(choice)) return completenessOfContent(choice, wanted)
  const isUnseen = ending === 'regular' && (outputTokens ?? 0) > MAX_EMPTY_RESPONSE_TOKENS && !hasReasoning(choice)
  return isUnseen ? 'no_output' : 'nothing_said'
}

/** Some servers count the token that ends an empty response, and Claude ends an empty turn with two or three. */
export const MAX_EMPTY_RESPONSE_TOKENS = 3

function isEmptyChoice(choice: JsonObject): boolean {
  return !isJsonObject(readField(choice, 'message')) && typeof readField(choice, 'text') !== 'string'
}

/** A legacy completion may be empty: it continues a text that may have been complete. */
function hasReasoning(choice: JsonObject): boolean {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return true
  return readReasoningText(message) !== '' || readContentParts(readField(message, 'content')).length > 0
}

function completenessOfContent(choice: JsonObject, wanted: ExpectedOutput): Completeness {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return 'whole'
  const calls = callsOf(message)
  if (!calls.every(hasWholeArguments)) return 'cut_arguments'
  // A refusal takes the place of whatever was asked for.
  if (calls.length > 0 || !isBlank(readField(message, 'refusal'))) return 'whole'
  if (wanted.requiresToolCall) return 'no_call'
  return hasExpectedTextFormat(textOfContent(readField(message, 'content')), wanted) ? 'whole' : 'no_json'
}

function callsOf(message: JsonObject): unknown[] {
  const calls = readField(message, 'tool_calls')
  const legacy = readField(message, 'function_call')
  return [...(Array.isArray(calls) ? calls : []), ...(isPresent(legacy) ? [{ function: legacy }] : [])]
}

/** What a custom tool is given is any text. */
function hasWholeArguments(call: unknown): boolean {
  if (!isJsonObject(call)) return false
  const { function: called, custom } = call
  if (isJsonObject(custom)) return typeof custom.input === 'string'
  return isJsonObject(called) && areCompleteArguments(called.arguments)
}

/** The fields of a message that count as content. Reasoning alone does not. */
const CONTENT_FIELDS = ['content', 'refusal', 'tool_calls', 'function_call', 'audio', 'images']

function hasContent(choice: JsonObject): boolean {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return readField(choice, 'text') !== ''
  return CONTENT_FIELDS.some(field => {
    const value = readField(message, field)
    if (field === 'content') return readContentParts(value).some(({ kind }) => kind !== 'reasoning')
    return isPresent(value) && value !== '' && !(Array.isArray(value) && value.length === 0)
  })
}

/** An aggregator may report `stop` although the provider's native reason, beside it, names a filter. */
function hasNativeFilter(choice: JsonObject): boolean {
  const native = readField(choice, 'native_finish_reason')
  return typeof native === 'string' && isContentFilter(native)
}

/** Whether any choice calls a tool, or a function the legacy way. Such responses are never served from a semantic match. */
export function hasToolCalls(body: unknown): boolean {
  const choices = isJsonObject(body) ? readField(body, 'choices') : undefined
  return Array.isArray(choices) && choices.some(choice => isJsonObject(choice) && callsTool(choice))
}

function callsTool(choice: JsonObject): boolean {
  const finishReason = readField(choice, 'finish_reason')
  if (finishReason === 'tool_calls' || finishReason === 'function_call') return true
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return false
  const calls = readField(message, 'tool_calls')
  return (Array.isArray(calls) && calls.length > 0) || isPresent(readField(message, 'function_call'))
}

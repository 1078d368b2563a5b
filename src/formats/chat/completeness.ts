/**
 * Judges whether responses are complete, and classifies the reasons for their end. Only complete responses may be cached, because they are served
 * to other requests.
 */
import {
  areCompleteArguments,
  type ExpectedOutput,
  hasExpectedTextFormat,
  isTruncatedByProvider,
  readOutputTokens,
} from '../expected-output.ts'
import { isBlank, isEmpty, isJsonObject, isPresent, type JsonObject, readField } from '../json/canonical.ts'
import { readContentParts, readReasoningText, textOfContent } from './content-parts.ts'

/** The reason why a response must not be cached. */
export type IncompleteReason =
  /** The body is not an object with at least one choice. */
  | 'not_a_response'
  /** An `error` object inside a 200 body: aggregators report a provider's failure that way. */
  | 'error_in_body'
  /** An `error` object inside one of the choices, or `finish_reason: 'error'`. */
  | 'error_in_choice'
  /** A choice has neither a message nor a text. */
  | 'empty_choice'
  /** A choice ended without text, a call, a refusal, an image or audio. A retry may succeed. */
  | 'empty_message'
  /** A choice ended regularly without output, although the provider counts output tokens. */
  | 'no_output'
  /** A choice has no `finish_reason`, so it is not finished. */
  | 'unfinished_choice'
  /** A filter withheld or truncated the response. A retry may succeed. */
  | 'content_filter'
  /** The response was truncated at the provider's length limit: the client set none, or a far higher one. */
  | 'provider_length_limit'
  /** The `finish_reason` is unknown. */
  | 'unknown_finish_reason'
  /** The response continues in a later request: a paused turn, or a background response. */
  | 'pending'
  /** The response ended for a new reason of its vendor, which the client may know. */
  | 'unknown_stop_reason'
  /** The bytes are not valid UTF-8, but cache entries are text. */
  | 'invalid_utf8'
  /** A part was omitted because the client's format does not support it. */
  | 'omitted_parts'
  /** The stream contains an error object. */
  | 'error_in_stream'
  /** A chunk of the stream was not a JSON object. */
  | 'malformed_chunk'
  /** A field changed its type within the stream, so that its parts cannot be merged. */
  | 'inconsistent_chunks'
  /** The response has fewer choices or vectors than requested. */
  | 'too_few_results'
  /** The arguments of a call are not valid JSON, so they are probably truncated. */
  | 'invalid_arguments'
  /** The text is not valid JSON, although the request requires JSON. */
  | 'invalid_json'
  /** No tool is called, although the request requires a call. */
  | 'missing_tool_call'
  /** The vectors do not have the requested dimensions, or differ in length. */
  | 'wrong_dimensions'
  /** The response is too long to store, so that its text was discarded. */
  | 'too_large'
  /** The stream ended without a closing event or a reason for its end. */
  | 'missing_end'

export type Completeness = 'whole' | IncompleteReason

const UPSTREAM_FAILURES: ReadonlySet<Completeness> = new Set<Completeness>([
  'not_a_response',
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

/** Combines a flaw of the stream with the completeness of the assembled response. A failure outranks other reasons. */
export function combineCompleteness(flaw: IncompleteReason | null, judged: Completeness): Completeness {
  if (flaw === null) return judged
  return isUpstreamFailure(judged) && !isUpstreamFailure(flaw) ? judged : flaw
}

/** Judges the body of a 200: a plain chat or legacy completion, or an assembled stream. */
export function completenessOf(body: unknown, expected: ExpectedOutput): Completeness {
  if (!isJsonObject(body)) return 'not_a_response'
  if (isPresent(readField(body, 'error'))) return 'error_in_body'
  const choices = readField(body, 'choices')
  if (!Array.isArray(choices) || choices.length === 0) return 'not_a_response'
  const outputTokens = readOutputTokens(body, 'completion_tokens')
  for (const choice of choices) {
    const completeness = isJsonObject(choice) ? completenessOfChoice(choice, expected, outputTokens) : 'not_a_response'
    if (completeness !== 'whole') return completeness
  }
  return choices.length < (expected.count ?? 1) ? 'too_few_results' : 'whole'
}

function completenessOfChoice(choice: JsonObject, expected: ExpectedOutput, outputTokens: number | null): Completeness {
  const finishReason = readField(choice, 'finish_reason')
  if (isPresent(readField(choice, 'error')) || finishReason === 'error') return 'error_in_choice'
  if (typeof finishReason !== 'string' || finishReason === '')
    return isEmptyChoice(choice) ? 'empty_choice' : 'unfinished_choice'
  const finishKind = classifyFinishReason(finishReason)
  if (finishKind === 'filtered' || hasNativeFilter(choice)) return 'content_filter'
  if (finishKind === 'failed') return 'unknown_finish_reason'
  if (isEmptyChoice(choice)) return 'empty_choice'
  if (finishKind === 'length' && isTruncatedByProvider(expected, outputTokens)) return 'provider_length_limit'
  if (hasContent(choice)) return completenessOfContent(choice, expected)
  const hasHiddenOutput =
    finishKind === 'regular' && (outputTokens ?? 0) > MAX_EMPTY_RESPONSE_TOKENS && !hasReasoning(choice)
  return hasHiddenOutput ? 'no_output' : 'empty_message'
}

/** Maximum output tokens of an empty response. Some servers count its end token, and Claude ends an empty turn with two or three tokens. */
export const MAX_EMPTY_RESPONSE_TOKENS = 3

function isEmptyChoice(choice: JsonObject): boolean {
  return !isJsonObject(readField(choice, 'message')) && typeof readField(choice, 'text') !== 'string'
}

/** Whether a choice has reasoning. True for legacy completions, which may be empty because the text they continue was complete. */
function hasReasoning(choice: JsonObject): boolean {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return true
  return readReasoningText(message) !== '' || readContentParts(readField(message, 'content')).length > 0
}

function completenessOfContent(choice: JsonObject, expected: ExpectedOutput): Completeness {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return 'whole'
  const calls = callsOf(message)
  if (!calls.every(hasWholeArguments)) return 'invalid_arguments'
  // A refusal replaces the requested output.
  if (calls.length > 0 || !isBlank(readField(message, 'refusal'))) return 'whole'
  if (expected.requiresToolCall) return 'missing_tool_call'
  return hasExpectedTextFormat(textOfContent(readField(message, 'content')), expected) ? 'whole' : 'invalid_json'
}

function callsOf(message: JsonObject): unknown[] {
  const calls = readField(message, 'tool_calls')
  const legacy = readField(message, 'function_call')
  return [...(Array.isArray(calls) ? calls : []), ...(isPresent(legacy) ? [{ function: legacy }] : [])]
}

/** Whether a call's arguments are complete. A custom tool accepts any text. */
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
    return !isEmpty(value)
  })
}

/** Whether the provider's native finish reason names a filter. An aggregator may report `stop` nevertheless. */
function hasNativeFilter(choice: JsonObject): boolean {
  const native = readField(choice, 'native_finish_reason')
  return typeof native === 'string' && isContentFilter(native)
}

/** Whether any choice calls a tool, or a function in the legacy form. Such responses are never served from a semantic match. */
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

/** `failed`: the provider aborted the response, or ended it for an unknown reason. */
export type FinishKind = 'regular' | 'length' | 'filtered' | 'failed'

const REGULAR: ReadonlySet<string> = new Set(
  'stop stop_sequence eos eos_token end end_turn done complete completed tool_calls tool_call tool_use function_call'.split(
    ' ',
  ),
)
const LENGTH = /length|max_\w{0,20}tokens|token_limit|context_window/
const FILTERED = /filter|safety|sensitive|refus|recitation|prohibited|block|spii|moderat|guardrail/

/** Classifies a reason. Compatible servers forward the native reasons of their models, in any letter case. An unknown reason is a failure, because the response may be incomplete. */
export function classifyFinishReason(finishReason: string): FinishKind {
  const reason = finishReason.toLowerCase()
  if (REGULAR.has(reason)) return 'regular'
  if (isContentFilter(reason)) return 'filtered'
  return LENGTH.test(reason) ? 'length' : 'failed'
}

/** Whether the reason, which may be a native one, names a content filter. */
export function isContentFilter(reason: string): boolean {
  return FILTERED.test(reason.toLowerCase())
}

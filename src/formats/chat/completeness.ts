/** Says which responses are complete. Only those may be stored, because a stored response is served to other requests. */

import { isBlank, isGiven, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { areWholeArguments, isTextAsWanted, type Wanted } from '../wanted.ts'

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
  /** A choice has no `finish_reason`: it was not finished. */
  | 'unfinished_choice'
  /** A filter withheld or cut the response. A retry may well pass. */
  | 'content_filter'
  /** Cut at the provider's own length limit: the client had set none. */
  | 'provider_length_limit'
  /** A `finish_reason` that is not documented as a regular end. */
  | 'unknown_finish_reason'
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
  /** The stream ended without `[DONE]`: its connection may have been cut. */
  | 'missing_done'

export type Completeness = 'whole' | IncompleteReason

const UPSTREAM_FAILURES: ReadonlySet<Completeness> = new Set<Completeness>([
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
])

/** Whether a response with status 200 reports a failure. It does not count against the monthly quota. */
export function isUpstreamFailure(completeness: Completeness): boolean {
  return UPSTREAM_FAILURES.has(completeness)
}

/** OpenAI's own values, and native values of models that compatible servers pass through. */
const REGULAR_ENDS = new Set(['stop', 'tool_calls', 'function_call', 'tool_use', 'end_turn', 'stop_sequence', 'eos'])
const LENGTH_ENDS = new Set(['length', 'max_tokens', 'model_length'])
const FILTERED_ENDS = new Set([
  'content_filter',
  'content_filtered',
  'safety',
  'refusal',
  'recitation',
  'prohibited_content',
  'blocklist',
  'spii',
])

/** Says whether the body of a 200 is complete: a plain chat or legacy completion, or an assembled stream. */
export function completenessOf(body: unknown, wanted: Wanted): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (isGiven(readField(body, 'error'))) return 'error_in_body'
  const choices = readField(body, 'choices')
  if (!Array.isArray(choices) || choices.length === 0) return 'not_an_answer'
  for (const choice of choices) {
    const completeness = isJsonObject(choice) ? completenessOfChoice(choice, wanted) : 'not_an_answer'
    if (completeness !== 'whole') return completeness
  }
  return choices.length < (wanted.count ?? 1) ? 'too_few' : 'whole'
}

function completenessOfChoice(choice: JsonObject, wanted: Wanted): Completeness {
  const finishReason = readField(choice, 'finish_reason')
  if (isGiven(readField(choice, 'error')) || finishReason === 'error') return 'error_in_choice'
  if (!isJsonObject(readField(choice, 'message')) && typeof readField(choice, 'text') !== 'string')
    return 'empty_choice'
  if (typeof finishReason !== 'string' || finishReason === '') return 'unfinished_choice'
  if (isFiltered(choice, finishReason)) return 'content_filter'
  if (LENGTH_ENDS.has(finishReason) && !wanted.clientSetOutputLimit) return 'provider_length_limit'
  if (!LENGTH_ENDS.has(finishReason) && !REGULAR_ENDS.has(finishReason)) return 'unknown_finish_reason'
  return hasContent(choice) ? completenessOfContent(choice, wanted) : 'nothing_said'
}

function completenessOfContent(choice: JsonObject, wanted: Wanted): Completeness {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return 'whole'
  const calls = callsOf(message)
  if (!calls.every(hasWholeArguments)) return 'cut_arguments'
  // A refusal takes the place of whatever was asked for.
  if (calls.length > 0 || !isBlank(readField(message, 'refusal'))) return 'whole'
  if (wanted.mustCall) return 'no_call'
  return isTextAsWanted(textOf(readField(message, 'content')), wanted) ? 'whole' : 'no_json'
}

function callsOf(message: JsonObject): unknown[] {
  const calls = readField(message, 'tool_calls')
  const legacy = readField(message, 'function_call')
  return [...(Array.isArray(calls) ? calls : []), ...(isGiven(legacy) ? [{ function: legacy }] : [])]
}

/** What a custom tool is given is any text. */
function hasWholeArguments(call: unknown): boolean {
  if (!isJsonObject(call)) return false
  const { function: called, custom } = call
  if (isJsonObject(custom)) return typeof custom.input === 'string'
  return isJsonObject(called) && areWholeArguments(called.arguments)
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ''
  return content.map(part => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** The fields of a message that count as content. Reasoning alone does not. */
const CONTENT_FIELDS = ['content', 'refusal', 'tool_calls', 'function_call', 'audio', 'images']

function hasContent(choice: JsonObject): boolean {
  const message = readField(choice, 'message')
  if (!isJsonObject(message)) return readField(choice, 'text') !== ''
  return CONTENT_FIELDS.some(field => {
    const value = readField(message, field)
    return isGiven(value) && value !== '' && !(Array.isArray(value) && value.length === 0)
  })
}

/** An aggregator may report `stop` although the provider's native reason, beside it, names a filter. */
function isFiltered(choice: JsonObject, finishReason: string): boolean {
  const native = readField(choice, 'native_finish_reason')
  if (FILTERED_ENDS.has(finishReason)) return true
  return typeof native === 'string' && FILTERED_ENDS.has(native.toLowerCase())
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
  return (Array.isArray(calls) && calls.length > 0) || isGiven(readField(message, 'function_call'))
}

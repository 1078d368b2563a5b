/** How a recorded-shape answer is written down, and the few words that keep writing it short. */

import type { AssembledChat } from '../../../src/formats/chat/assemble-chat.ts'
import type { JsonObject } from '../scenario.ts'

export interface CorpusEntry {
  /** Whose answer, and what is special about it. */
  name: string
  /** The raw body of a streamed answer, as its upstream sends it. */
  stream?: string
  /** The raw body of the plain answer, where it is not simply `body` as JSON; null where a plain one says nothing new. */
  plain?: string | null
  /** The plain body: what the stream must assemble to. */
  body: JsonObject
  completeness: AssembledChat['completeness']
  /** Of the plain form, where the two differ: a stream has more ways to be cut. */
  plainCompleteness?: AssembledChat['completeness']
  /** The error object the stream carries. */
  error?: unknown
  clientSetOutputLimit?: boolean
}

export interface StreamStyle {
  /** The line end; LF by default. */
  newline?: string
  /** Whether `[DONE]` closes it; by default it does. */
  done?: boolean
  /** Sent before the first event, comments for example. */
  preamble?: string
}

/** The event stream of these chunks, each with the fields of `head`. */
export function stream(head: JsonObject, chunks: JsonObject[], style: StreamStyle = {}): string {
  const events = chunks.map(chunk => `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`)
  const text = `${style.preamble ?? ''}${events.join('')}${style.done === false ? '' : 'data: [DONE]\n\n'}`
  return text.replaceAll('\n', style.newline ?? '\n')
}

/** A chunk with one choice that says `delta`. */
export function says(delta: JsonObject, choice: JsonObject = {}, chunk: JsonObject = {}): JsonObject {
  return { choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }], ...chunk }
}

/** The chunk that ends a choice. */
export function ends(finishReason: string, choice: JsonObject = {}, chunk: JsonObject = {}): JsonObject {
  return says({}, { finish_reason: finishReason, ...choice }, chunk)
}

/** The chunk that reports usage, after the last choice. */
export function counts(usage: JsonObject, chunk: JsonObject = {}): JsonObject {
  return { choices: [], usage, ...chunk }
}

/** A whole choice of a plain answer. */
export function said(message: JsonObject, finishReason = 'stop', choice: JsonObject = {}): JsonObject {
  return {
    index: 0,
    message: { role: 'assistant', ...message },
    logprobs: null,
    finish_reason: finishReason,
    ...choice,
  }
}

/** The format of corpus entries, and helpers that build their chunks. */

import type { AssembledChat } from '../../../src/formats/chat/assemble-chat.ts'
import type { JsonObject } from '../scenario.ts'

export interface CorpusEntry {
  /** The vendor, and the special property of the response. */
  name: string
  /** The raw body of a streamed response, as the provider sends it. */
  stream?: string
  /** The raw body of the plain response, if it is not simply `body` as JSON; null if the plain form tests nothing new. */
  plain?: string | null
  /** The plain body. The assembled stream must equal it. */
  body: JsonObject
  completeness: AssembledChat['completeness']
  /** The completeness of the plain form, if it differs: a stream can be cut in more ways. */
  plainCompleteness?: AssembledChat['completeness']
  /** The error object in the stream. */
  error?: unknown
  clientSetOutputLimit?: boolean
}

export interface StreamStyle {
  /** The line end; LF by default. */
  newline?: string
  /** Whether `[DONE]` ends the stream; true by default. */
  done?: boolean
  /** Sent before the first event; comments, for example. */
  preamble?: string
}

/** Returns the event stream of these chunks, each with the fields of `head`. */
export function stream(head: JsonObject, chunks: JsonObject[], style: StreamStyle = {}): string {
  const events = chunks.map(chunk => `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`)
  const text = `${style.preamble ?? ''}${events.join('')}${style.done === false ? '' : 'data: [DONE]\n\n'}`
  return text.replaceAll('\n', style.newline ?? '\n')
}

/** Returns a chunk with one choice that contains `delta`. */
export function deltaChunk(delta: JsonObject, choice: JsonObject = {}, chunk: JsonObject = {}): JsonObject {
  return { choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }], ...chunk }
}

/** Returns the chunk that ends a choice. */
export function finishChunk(finishReason: string, choice: JsonObject = {}, chunk: JsonObject = {}): JsonObject {
  return deltaChunk({}, { finish_reason: finishReason, ...choice }, chunk)
}

/** Returns the chunk that reports usage, after the last choice. */
export function usageOnlyChunk(usage: JsonObject, chunk: JsonObject = {}): JsonObject {
  return { choices: [], usage, ...chunk }
}

/** Returns a whole choice of a plain response. */
export function messageChoice(message: JsonObject, finishReason = 'stop', choice: JsonObject = {}): JsonObject {
  return {
    index: 0,
    message: { role: 'assistant', ...message },
    logprobs: null,
    finish_reason: finishReason,
    ...choice,
  }
}

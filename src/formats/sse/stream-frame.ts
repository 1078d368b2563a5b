/** Reads what one event of a provider's stream carries. Every format's assembler reads its events here. */

import { isJsonObject, type JsonObject, parseJson, readField } from '../json/canonical.ts'

export type StreamFrame =
  | { kind: 'chunk'; chunk: JsonObject }
  /** An event named `error`. */
  | { kind: 'error'; error: unknown }
  /** The closing `[DONE]`. */
  | { kind: 'done' }
  /** Keep-alives and empty frames: nothing is lost with them. */
  | { kind: 'empty' }
  /** Something that should have been a chunk, and cannot be read. */
  | { kind: 'malformed' }

const DONE: StreamFrame = { kind: 'done' }
const EMPTY: StreamFrame = { kind: 'empty' }
const MALFORMED: StreamFrame = { kind: 'malformed' }
/** `[DONE]` and its white space. */
const LONGEST_DONE = 16

export function parseStreamFrame(data: string, event?: string | null): StreamFrame {
  if (data.length < LONGEST_DONE) {
    const text = data.trim()
    if (text === '') return EMPTY
    if (text === '[DONE]') return DONE
  }
  const value = parseJson(data)
  if (event === 'error') return { kind: 'error', error: errorIn(value) ?? data }
  if (isJsonObject(value)) return { kind: 'chunk', chunk: value }
  if (value === null || (Array.isArray(value) && value.length === 0)) return EMPTY
  return isKeepAlive(data, event) ? EMPTY : MALFORMED
}

function errorIn(value: unknown): unknown {
  return isJsonObject(value) ? (readField(value, 'error') ?? value) : value
}

/** An event with a name of its own whose data is no JSON at all, such as `event: ping`. A garbled chunk still begins as an object. */
function isKeepAlive(data: string, event: string | null | undefined): boolean {
  return typeof event === 'string' && event !== 'message' && !data.trimStart().startsWith('{')
}

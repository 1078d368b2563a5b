/** Classifies the events of a provider's stream. The assemblers of all formats use it. */

import { isJsonObject, type JsonObject, parseJson, readField } from '../json/canonical.ts'

export type StreamFrame =
  | { kind: 'chunk'; chunk: JsonObject }
  /** An event named `error`. */
  | { kind: 'error'; error: unknown }
  /** The closing `[DONE]`. */
  | { kind: 'done' }
  /** A keep-alive or an empty frame, which contains nothing. */
  | { kind: 'empty' }
  /** An event that should be a chunk but cannot be parsed. */
  | { kind: 'malformed' }

const DONE: StreamFrame = { kind: 'done' }
const EMPTY: StreamFrame = { kind: 'empty' }
const MALFORMED: StreamFrame = { kind: 'malformed' }
/** Maximum length of `[DONE]` with white space. */
const MAX_DONE_CHARS = 16

export function parseStreamFrame(data: string, event?: string | null): StreamFrame {
  if (data.length < MAX_DONE_CHARS) {
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

/** Whether an event whose data is no JSON is a keep-alive: it has a name, such as `ping`, and does not begin like an object, as a garbled chunk does. */
function isKeepAlive(data: string, event: string | null | undefined): boolean {
  return typeof event === 'string' && event !== 'message' && !data.trimStart().startsWith('{')
}

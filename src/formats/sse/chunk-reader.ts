/** Reads the chunks of a provider's stream and records its errors and flaws. The assemblers of all formats use it. */
import { type Completeness, combineCompleteness, type IncompleteReason } from '../chat/completeness.ts'
import type { ExpectedOutput } from '../expected-output.ts'
import { isJsonObject, isPresent, type JsonObject, parseJson, readField } from '../json/canonical.ts'

export class ChunkReader {
  /** The first error that the stream reported; null when it reported none. */
  error: unknown = null
  /** Whether clients can see that error in the stream itself. */
  isErrorVisible = false
  /** Whether `[DONE]` has come. */
  isDone = false
  /** Whether the last event cannot be read. Clients must not get it. */
  isMalformed = false
  #flaw: IncompleteReason | null = null

  /** Returns the chunk of an event; null for an event without one. */
  read(data: string, event?: string | null): JsonObject | null {
    const frame = parseStreamFrame(data, event)
    this.isMalformed = frame.kind === 'malformed'
    if (frame.kind === 'chunk') return frame.chunk
    if (frame.kind === 'done') this.isDone = true
    else if (frame.kind === 'error') this.addError(frame.error)
    else if (frame.kind === 'malformed') this.markIncomplete('malformed_chunk')
    return null
  }

  /** Records a flaw. Only the first one counts, unless the stream reports an error later. */
  markIncomplete(flaw: IncompleteReason): void {
    this.#flaw ??= flaw
  }

  /** Records an error. `isVisible` is whether it is where clients look for errors. */
  addError(error: unknown, isVisible = true): void {
    if (!isPresent(error)) return
    this.error ??= error
    this.isErrorVisible ||= isVisible
    this.#flaw = 'error_in_stream'
  }

  /** Returns the completeness of the stream. `judged` is the completeness of the assembled response. */
  resolveCompleteness(judged: Completeness): Completeness {
    return combineCompleteness(this.#flaw, judged)
  }
}

/** What the assemblers of all formats share. */
export abstract class ChunkAssembler {
  protected readonly expected: ExpectedOutput
  protected readonly reader = new ChunkReader()
  tokens = 0

  constructor(expected: ExpectedOutput) {
    this.expected = expected
  }

  get hasOutput(): boolean {
    return this.tokens > 0
  }

  get hasFailed(): boolean {
    return this.reader.isErrorVisible
  }
}

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

/** Classifies an event. */
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

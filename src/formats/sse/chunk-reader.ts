/** Reads the chunks of a provider's stream, and remembers what is wrong with it. Every format's assembler reads its events here. */

import { type Completeness, combineCompleteness, type IncompleteReason } from '../chat/completeness.ts'
import { isPresent, type JsonObject } from '../json/canonical.ts'
import { parseStreamFrame } from './stream-frame.ts'

export class ChunkReader {
  /** The first error that the stream reported; null when it reported none. */
  error: unknown = null
  /** Whether clients learn of that error by the stream itself. */
  isErrorVisible = false
  /** Whether `[DONE]` has come. */
  isDone = false
  #flaw: IncompleteReason | null = null

  /** Returns the chunk of an event; null for one that carries none. */
  read(data: string, event?: string | null): JsonObject | null {
    const frame = parseStreamFrame(data, event)
    if (frame.kind === 'chunk') return frame.chunk
    if (frame.kind === 'done') this.isDone = true
    else if (frame.kind === 'error') this.addError(frame.error)
    else if (frame.kind === 'malformed') this.markIncomplete('malformed_chunk')
    return null
  }

  /** The first flaw counts, unless an error is reported later. */
  markIncomplete(flaw: IncompleteReason): void {
    this.#flaw ??= flaw
  }

  /** `isTold`: whether it stands where clients look for one. */
  addError(error: unknown, isTold = true): void {
    if (!isPresent(error)) return
    this.error ??= error
    this.isErrorVisible ||= isTold
    this.#flaw = 'error_in_stream'
  }

  /** What the stream comes to. `judged`: what it was assembled to. */
  resolveCompleteness(judged: Completeness): Completeness {
    return combineCompleteness(this.#flaw, judged)
  }
}

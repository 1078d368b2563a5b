/** Reads the chunks of a provider's stream and records its errors and flaws. The assemblers of all formats use it. */

import { type Completeness, combineCompleteness, type IncompleteReason } from '../chat/completeness.ts'
import { isPresent, type JsonObject } from '../json/canonical.ts'
import { parseStreamFrame } from './stream-frame.ts'

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

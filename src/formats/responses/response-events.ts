/** Writes and numbers the events of a Responses stream, and writes the events that end a part of an item. */

import type { ProxyError } from '../../errors/errors.ts'
import { CONTEXT_LENGTH_EXCEEDED } from '../errors/context-length-error.ts'
import type { JsonObject } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'

/** The types of the event that ends a stream. It contains the whole response. */
export const LAST_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

export interface ResponseEventWriter {
  write(type: string, fields: JsonObject): void
  writeError(error: Pick<ProxyError, 'code' | 'message'>): void
  /** Ends a part of the content of a message or a reasoning item. */
  closePart(at: ContentPartPosition, part: JsonObject): void
  /** Ends a part of a reasoning item's summary. */
  closeSummary(at: SummaryPartPosition, part: JsonObject): void
  /** Returns the events written since the last call. */
  drainEvents(): TypedEvent[]
}

export interface ContentPartPosition extends JsonObject {
  item_id: unknown
  output_index: number
  content_index: number
}

export interface SummaryPartPosition extends JsonObject {
  item_id: unknown
  output_index: number
  summary_index: number
}

/** Error types by the codes on which clients act. Any other code becomes `server_error`. */
export const CLIENT_ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['insufficient_quota', 'insufficient_quota'],
  [CONTEXT_LENGTH_EXCEEDED, 'invalid_request_error'],
])

/** Creates an error event. The fields are both nested and at the top level, because OpenAI's clients read either. */
export function createErrorEvent(
  { code, message, param = null }: Pick<ProxyError, 'code' | 'message'> & { param?: string | null },
  number: number,
): TypedEvent {
  const type = CLIENT_ERROR_TYPES.get(code) ?? 'server_error'
  return { type: 'error', sequence_number: number, code, message, param, error: { type, code, message, param } }
}

export function createResponseEventWriter(): ResponseEventWriter {
  let written: TypedEvent[] = []
  let count = 0

  function write(type: string, fields: JsonObject): void {
    written.push({ type, sequence_number: count++, ...fields })
  }

  return {
    write,
    writeError: error => written.push(createErrorEvent(error, count++)),
    closePart(at, part) {
      if (part.type === 'output_text') {
        write('response.output_text.done', { ...at, text: part.text, logprobs: part.logprobs ?? [] })
      } else if (part.type === 'refusal') write('response.refusal.done', { ...at, refusal: part.refusal })
      else if (part.type === 'reasoning_text') write('response.reasoning_text.done', { ...at, text: part.text })
      write('response.content_part.done', { ...at, part })
    },
    closeSummary(at, part) {
      write('response.reasoning_summary_text.done', { ...at, text: part.text })
      write('response.reasoning_summary_part.done', { ...at, part })
    },
    drainEvents() {
      const events = written
      written = []
      return events
    },
  }
}

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

/** The item to which a part belongs. */
export interface PartPosition extends JsonObject {
  item_id: unknown
  output_index: number
}

export class ResponseEventWriter {
  readonly #written: TypedEvent[] = []
  #count = 0

  write(type: string, fields: JsonObject): void {
    this.#written.push({ type, sequence_number: this.#count++, ...fields })
  }

  writeError(error: Pick<ProxyError, 'code' | 'message'>): void {
    this.#written.push(createErrorEvent(error, this.#count++))
  }

  /** Ends a part of the content of a message or a reasoning item. */
  closePart(at: PartPosition & { content_index: number }, part: JsonObject): void {
    if (part.type === 'output_text') {
      this.write('response.output_text.done', { ...at, text: part.text, logprobs: part.logprobs ?? [] })
    } else if (part.type === 'refusal') this.write('response.refusal.done', { ...at, refusal: part.refusal })
    else if (part.type === 'reasoning_text') this.write('response.reasoning_text.done', { ...at, text: part.text })
    this.write('response.content_part.done', { ...at, part })
  }

  /** Ends a part of a reasoning item's summary. */
  closeSummary(at: PartPosition & { summary_index: number }, part: JsonObject): void {
    this.write('response.reasoning_summary_text.done', { ...at, text: part.text })
    this.write('response.reasoning_summary_part.done', { ...at, part })
  }

  /** Returns the events written since the last call. */
  drainEvents(): TypedEvent[] {
    return this.#written.splice(0)
  }
}

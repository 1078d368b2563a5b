/** Extracts the complete response from a provider's Responses stream. */

import { isJsonObject, type JsonObject, parseJsonObject } from '../json/json-object.ts'
import type { Completeness, CompletenessOptions, IncompleteReason } from '../openai-format/completeness.ts'
import { judgeResponse } from './judge-response.ts'

export interface AssembledResponse {
  /** Null when the stream did not reach its end. */
  body: JsonObject | null
  /** As the provider reported it, in the form of Responses; null when it did not. */
  usage: unknown
  /** True when an event that ends the stream arrived. */
  sawEnd: boolean
  /** The error in the stream, if there was one. */
  error: unknown
  completeness: Completeness
}

export interface ResponseAssembler {
  /** Takes one event's data. Never throws. */
  push(data: string): void
  /** Call once. */
  finish(): AssembledResponse
}

const ENDINGS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

export function createResponseAssembler(options: CompletenessOptions): ResponseAssembler {
  /** By position. Used when the provider's last event does not repeat the items. */
  const items = new Map<number, JsonObject>()
  let body: JsonObject | null = null
  let error: unknown = null
  let flaw: IncompleteReason | null = null

  function end(response: JsonObject): void {
    const listed = Array.isArray(response.output) ? response.output : []
    const output = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
    body = listed.length === 0 ? { ...response, output } : response
  }

  function read(event: JsonObject): void {
    const { type, item, output_index: index, response } = event
    if (type === 'response.output_item.done' && isJsonObject(item) && typeof index === 'number') items.set(index, item)
    else if (type === 'error') {
      error ??= isJsonObject(event.error) ? event.error : event
      flaw = 'error_in_stream'
    } else if (ENDINGS.has(String(type)) && isJsonObject(response)) end(response)
  }

  return {
    push(data) {
      if (body !== null || data === '' || data === '[DONE]') return
      const event = parseJsonObject(data)
      if (event) read(event)
      else flaw ??= 'malformed_chunk'
    },
    finish() {
      if (body?.status === 'failed') error ??= body.error
      const completeness = flaw ?? (body === null ? 'missing_done' : judgeResponse(body, options))
      return { body, usage: body?.usage ?? null, sawEnd: body !== null, error, completeness }
    },
  }
}

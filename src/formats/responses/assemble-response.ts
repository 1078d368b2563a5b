/** Assembles the events of a Responses stream into the plain response, and says whether a response is complete: only then may it be stored. */

import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/canonical.ts'
import type { StreamAssembler } from '../answer-format.ts'
import type { Completeness, CompletenessOptions, IncompleteReason } from '../chat/completeness.ts'

const ENDINGS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

export function createResponseAssembler(options: CompletenessOptions): StreamAssembler {
  /** By position. Used when the provider's last event does not repeat the items. */
  const items = new Map<number, JsonObject>()
  let body: JsonObject | null = null
  /** The response as it began, and what came of the item that is being written. */
  let begun: JsonObject = {}
  let written = ''
  let flaw: IncompleteReason | null = null

  function end(response: JsonObject): void {
    const listed = Array.isArray(response.output) ? response.output : []
    const output = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
    body = listed.length === 0 ? { ...response, output } : response
  }

  function beginWith({ id, object, status, model, background, store }: JsonObject): void {
    begun = { id, object, status, model, background, store }
  }

  /** What had arrived, of a response that was cut. */
  function takeBegun(): JsonObject {
    const open = written === '' ? [] : [{ type: 'message', content: [{ type: 'output_text', text: written }] }]
    return begun.id === undefined ? {} : { ...begun, output: [...items.values(), ...open] }
  }

  function finishItem(item: JsonObject, index: number): void {
    items.set(index, item)
    written = ''
  }

  function read(event: JsonObject): void {
    const { type, item, output_index: index, response, delta } = event
    if (typeof delta === 'string') written += delta
    else if (type === 'response.output_item.done' && isJsonObject(item) && typeof index === 'number')
      finishItem(item, index)
    else if (type === 'response.created' && isJsonObject(response)) beginWith(response)
    else if (type === 'error') flaw = 'error_in_stream'
    else if (ENDINGS.has(String(type)) && isJsonObject(response)) end(response)
  }

  return {
    push(data) {
      if (body !== null || data === '' || data === '[DONE]') return
      const event = parseJsonObject(data)
      if (event) read(event)
      else flaw ??= 'malformed_chunk'
    },
    finish() {
      const completeness = flaw ?? (body === null ? 'missing_done' : completenessOfResponse(body, options))
      return { body: body ?? takeBegun(), usage: body?.usage ?? null, completeness }
    },
  }
}

/** `clientSetOutputLimit`: the request had `max_output_tokens`. */
export function completenessOfResponse(body: unknown, options: CompletenessOptions): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (body.status === 'failed' || (body.error ?? null) !== null) return 'error_in_body'
  if (body.object !== 'response' || !Array.isArray(body.output)) return 'not_an_answer'
  if (body.status === 'incomplete') return completenessOfCut(body, options)
  // For example a background response that is queued or was cancelled.
  if (body.status !== 'completed') return 'unfinished_choice'
  const items = body.output.filter(isJsonObject)
  if (items.some(({ status }) => status === 'in_progress' || status === 'incomplete')) return 'unfinished_choice'
  return hasContent(items) ? 'whole' : 'nothing_said'
}

function completenessOfCut(
  { incomplete_details: details, output }: JsonObject,
  options: CompletenessOptions,
): Completeness {
  const reason = isJsonObject(details) ? details.reason : undefined
  if (reason === 'content_filter') return 'content_filter'
  if (reason !== 'max_output_tokens') return 'unknown_finish_reason'
  if (!options.clientSetOutputLimit) return 'provider_length_limit'
  return hasContent((output as unknown[]).filter(isJsonObject)) ? 'whole' : 'nothing_said'
}

/** Whether an item other than reasoning has content. */
function hasContent(items: readonly JsonObject[]): boolean {
  return items.some(item => {
    if (item.type === 'reasoning') return false
    if (item.type !== 'message' || !Array.isArray(item.content)) return true
    return item.content.some(part => isJsonObject(part) && (part.text ?? part.refusal ?? 'a new kind') !== '')
  })
}

/** Whether the response calls a tool. Such responses are never served from a semantic match. */
export function hasCalls(body: unknown): boolean {
  const output = isJsonObject(body) ? body.output : undefined
  return Array.isArray(output) && output.some(item => /_(call|request|output)$/.test(String(item?.type)))
}

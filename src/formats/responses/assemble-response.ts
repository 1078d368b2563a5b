/** Assembles the events of a Responses stream into the plain response, and says whether a response is complete: only then may it be stored. */

import type { StreamAssembler } from '../answer-format.ts'
import type { Completeness, IncompleteReason } from '../chat/completeness.ts'
import { isJsonObject, type JsonObject, objectsOf, parseJsonObject, textOf } from '../json/canonical.ts'
import { lengthOfText, TextMeter } from '../text-meter.ts'
import { areWholeArguments, isTextAsWanted, type Wanted } from '../wanted.ts'

const ENDINGS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

export function createResponseAssembler(wanted: Wanted): StreamAssembler {
  /** By position. Used when the provider's last event does not repeat the items. */
  const items = new Map<number, JsonObject>()
  let body: JsonObject | null = null
  /** The response as it began, and what came of the item that is being written. */
  let begun: JsonObject = {}
  let written = ''
  let flaw: IncompleteReason | null = null
  const meter = new TextMeter(() => lengthOfText([...items.values(), written]))

  /** The last event usually repeats them. */
  function giveUp(): void {
    if (meter.isGivenUp) return
    meter.isGivenUp = true
    meter.lose([...items.values(), written])
    written = ''
    for (const [index, item] of items) items.set(index, withoutText(item))
  }

  function end(response: JsonObject): void {
    const listed = Array.isArray(response.output) ? response.output : []
    const output = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
    body = listed.length === 0 ? { ...response, output } : response
    if (meter.isGivenUp && listed.length === 0 && output.length > 0) flaw ??= 'too_large'
  }

  function beginWith({ id, object, status, model, background, store }: JsonObject): void {
    begun = { id, object, status, model, background, store }
  }

  /** What had arrived, of a response that was cut. */
  function takeBegun(): JsonObject {
    const open = written === '' ? [] : [{ type: 'message', content: [{ type: 'output_text', text: written }] }]
    return begun.id === undefined ? {} : { ...begun, output: [...items.values(), ...open] }
  }

  function write(delta: string): void {
    if (meter.isGivenUp) meter.lose(delta)
    else written += delta
  }

  function finishItem(item: JsonObject, index: number): void {
    items.set(index, item)
    written = ''
  }

  function read(event: JsonObject): void {
    const { type, item, output_index: index, response, delta } = event
    if (typeof delta === 'string') write(delta)
    else if (type === 'response.output_item.done' && isJsonObject(item) && typeof index === 'number')
      finishItem(meter.isGivenUp ? withoutText(item) : item, index)
    else if (type === 'response.created' && isJsonObject(response)) beginWith(response)
    else if (type === 'error') flaw = 'error_in_stream'
    else if (ENDINGS.has(textOf(type)) && isJsonObject(response)) end(response)
  }

  return {
    meter,
    giveUp,
    push(data) {
      if (body !== null || data === '' || data === '[DONE]') return
      const event = parseJsonObject(data)
      if (event?.type === 'response.output_item.done' || typeof event?.delta === 'string') meter.note(data)
      if (event) read(event)
      else flaw ??= 'malformed_chunk'
    },
    finish() {
      const completeness = flaw ?? (body === null ? 'missing_done' : completenessOfResponse(body, wanted))
      return { body: body ?? takeBegun(), usage: body?.usage ?? null, completeness }
    },
  }
}

/** What is priced of an item: what it is, and where it ran. */
function withoutText({ type, status, container_id, environment }: JsonObject): JsonObject {
  return { type, status, container_id, environment }
}

export function completenessOfResponse(body: unknown, wanted: Wanted): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (body.status === 'failed' || (body.error ?? null) !== null) return 'error_in_body'
  if (body.object !== 'response' || !Array.isArray(body.output)) return 'not_an_answer'
  if (body.status === 'incomplete') return completenessOfCut(body, wanted)
  // For example a background response that is queued or was cancelled.
  if (body.status !== 'completed') return 'unfinished_choice'
  const items = objectsOf(body.output)
  if (items.some(({ status }) => status === 'in_progress' || status === 'incomplete')) return 'unfinished_choice'
  return completenessOfItems(items, wanted)
}

function completenessOfCut({ incomplete_details: details, output }: JsonObject, wanted: Wanted): Completeness {
  const reason = isJsonObject(details) ? details.reason : undefined
  if (reason === 'content_filter') return 'content_filter'
  if (reason !== 'max_output_tokens') return 'unknown_finish_reason'
  if (!wanted.clientSetOutputLimit) return 'provider_length_limit'
  return completenessOfItems(objectsOf(output), wanted)
}

function completenessOfItems(items: readonly JsonObject[], wanted: Wanted): Completeness {
  if (!hasContent(items)) return 'nothing_said'
  const functionCalls = items.filter(({ type }) => type === 'function_call')
  if (!functionCalls.every(call => areWholeArguments(call.arguments))) return 'cut_arguments'
  const parts = items.flatMap(({ content, type }) => (type === 'message' ? objectsOf(content) : []))
  // A refusal takes the place of whatever was asked for.
  if (parts.some(({ type }) => type === 'refusal')) return 'whole'
  if (wanted.mustCall && !hasCalls({ output: items })) return 'no_call'
  // What the client is to run comes in place of the text; what ran at the provider does not.
  if (items.some(({ type }) => type === 'function_call' || type === 'custom_tool_call')) return 'whole'
  const text = parts.map(part => (typeof part.text === 'string' ? part.text : '')).join('')
  return isTextAsWanted(text, wanted) ? 'whole' : 'no_json'
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
export function hasCalls({ output }: JsonObject): boolean {
  return objectsOf(output).some(({ type }) => /_(call|request|output)$/.test(textOf(type)))
}

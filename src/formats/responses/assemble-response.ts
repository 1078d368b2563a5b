/** Assembles the events of a Responses stream into the plain response, and judges whether a response is complete. Only complete ones are cached. */

import type { AssembledStream, StreamAssembler } from '../api-format.ts'
import { type Completeness, MAX_EMPTY_RESPONSE_TOKENS } from '../chat/completeness.ts'
import {
  areCompleteArguments,
  type ExpectedOutput,
  hasExpectedTextFormat,
  isTruncatedByProvider,
  readOutputTokens,
} from '../expected-output.ts'
import { asObjects, asString, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { ChunkAssembler } from '../sse/chunk-reader.ts'
import { TextMeter, textLengthOf } from '../text-meter.ts'
import { LAST_EVENTS } from './response-events.ts'

/** Creates an assembler. `onEvent` gets each event before it is added. */
export function createResponseAssembler(
  expected: ExpectedOutput,
  onEvent?: (event: JsonObject) => void,
): StreamAssembler {
  return new ResponseAssembler(expected, onEvent)
}

class ResponseAssembler extends ChunkAssembler implements StreamAssembler {
  readonly #onEvent: ((event: JsonObject) => void) | undefined
  /** Finished items by position. They are used if the provider's last event does not repeat the items. */
  readonly #items = new Map<number, JsonObject>()
  readonly meter = new TextMeter(() => textLengthOf([...this.#items.values(), this.#openText]))
  #body: JsonObject | null = null
  /** Fields of the initial response. `#openText` is the text of the item in progress. */
  #initialFields: JsonObject = {}
  #openText = ''

  constructor(expected: ExpectedOutput, onEvent?: (event: JsonObject) => void) {
    super(expected)
    this.#onEvent = onEvent
  }

  override get hasFailed(): boolean {
    return this.reader.isErrorVisible || this.#body?.status === 'failed'
  }

  /** Discards the items' text, which the last event usually repeats. */
  discardText(): void {
    if (this.meter.isDiscarded) return
    this.meter.isDiscarded = true
    this.meter.countDiscarded([...this.#items.values(), this.#openText])
    this.#openText = ''
    for (const [index, item] of this.#items) this.#items.set(index, withoutText(item))
  }

  push(data: string, name?: string | null): null | undefined {
    if (this.#body !== null) return
    const event = this.reader.read(data, name)
    if (!event) return this.reader.isMalformed ? null : undefined
    this.#onEvent?.(event)
    if (event.type === 'response.output_item.done' || typeof event.delta === 'string') this.meter.countEvent(data)
    this.#add(event)
  }

  #add(event: JsonObject): void {
    const { type, item, output_index: index, response, delta } = event
    if (isToken(event)) this.tokens++
    if (typeof delta === 'string') this.#write(delta)
    else if (type === 'response.output_item.done' && isJsonObject(item) && typeof index === 'number')
      this.#finishItem(this.meter.isDiscarded ? withoutText(item) : item, index)
    else if (type === 'response.created' && isJsonObject(response)) this.#initialFields = pickInitialFields(response)
    else if (type === 'error') this.reader.addError(event.error ?? event)
    else if (LAST_EVENTS.has(asString(type)) && isJsonObject(response)) this.#end(response)
  }

  #write(delta: string): void {
    if (this.meter.isDiscarded) this.meter.countDiscarded(delta)
    else this.#openText += delta
  }

  #finishItem(item: JsonObject, index: number): void {
    this.#items.set(index, item)
    this.#openText = ''
  }

  #end(response: JsonObject): void {
    const reportedItems = Array.isArray(response.output) ? response.output : []
    const output = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item)
    this.#body = reportedItems.length === 0 ? { ...response, output } : response
    if (this.meter.isDiscarded && reportedItems.length === 0 && output.length > 0)
      this.reader.markIncomplete('too_large')
  }

  finish(): AssembledStream {
    const body = this.#body
    const judged = body === null ? 'missing_end' : completenessOfResponse(body, this.expected)
    const error = this.reader.error ?? body?.error ?? null
    const completeness = this.reader.resolveCompleteness(judged)
    return { body: body ?? this.#createPartialBody(), usage: body?.usage ?? null, completeness, error }
  }

  /** Returns the parts of an incomplete response that have arrived. */
  #createPartialBody(): JsonObject {
    const content = [{ type: 'output_text', text: this.#openText }]
    const open = this.#openText === '' ? [] : [{ type: 'message', content }]
    return this.#initialFields.id === undefined
      ? {}
      : { ...this.#initialFields, output: [...this.#items.values(), ...open] }
  }
}

function pickInitialFields({ id, object, status, model, background, store }: JsonObject): JsonObject {
  return { id, object, status, model, background, store }
}

/** The events of a hosted tool that report its progress. */
const TOOL_PROGRESS = /^response\.\w+_call\./

/** Whether an event belongs to the output: text, any item except a message, which begins empty, or the first event of a background response. */
function isToken({ type, item, response, delta }: JsonObject): boolean {
  if (typeof delta === 'string') return delta !== ''
  if (type === 'response.output_item.done' || TOOL_PROGRESS.test(asString(type))) return true
  if (type === 'response.output_item.added') return isJsonObject(item) && item.type !== 'message'
  return isJsonObject(response) && response.background === true
}

/** Returns only the fields of an item that affect the price: its type, and where it ran. */
function withoutText({ type, status, container_id, environment }: JsonObject): JsonObject {
  return { type, status, container_id, environment }
}

export function completenessOfResponse(body: unknown, expected: ExpectedOutput): Completeness {
  if (!isJsonObject(body)) return 'not_a_response'
  if (body.status === 'failed' || (body.error ?? null) !== null) return 'error_in_body'
  if (body.object !== 'response' || !Array.isArray(body.output)) return 'not_a_response'
  if (body.status === 'incomplete') return completenessOfTruncated(body, expected)
  // The response is, for example, a background response that is queued or was cancelled.
  if (body.status !== 'completed') return 'pending'
  const items = asObjects(body.output)
  if (items.some(({ status }) => status === 'in_progress' || status === 'incomplete')) return 'pending'
  const hasHiddenOutput =
    items.every(isEmptyMessage) && (readOutputTokens(body, 'output_tokens') ?? 0) > MAX_EMPTY_RESPONSE_TOKENS
  return hasHiddenOutput ? 'no_output' : completenessOfItems(items, expected)
}

function isEmptyMessage(item: JsonObject): boolean {
  return item.type === 'message' && !hasContent([item])
}

function completenessOfTruncated(body: JsonObject, expected: ExpectedOutput): Completeness {
  const { incomplete_details: details, output } = body
  const reason = isJsonObject(details) ? details.reason : undefined
  if (reason === 'content_filter') return 'content_filter'
  if (reason !== 'max_output_tokens') return 'unknown_stop_reason'
  if (isTruncatedByProvider(expected, readOutputTokens(body, 'output_tokens'))) return 'provider_length_limit'
  return completenessOfItems(asObjects(output), expected)
}

function completenessOfItems(items: readonly JsonObject[], expected: ExpectedOutput): Completeness {
  if (!hasContent(items)) return 'empty_message'
  const functionCalls = items.filter(({ type }) => type === 'function_call')
  if (!functionCalls.every(call => areCompleteArguments(call.arguments))) return 'invalid_arguments'
  const parts = items.flatMap(({ content, type }) => (type === 'message' ? asObjects(content) : []))
  // A refusal replaces the requested output.
  if (parts.some(({ type }) => type === 'refusal')) return 'whole'
  if (expected.requiresToolCall && !hasResponseToolCalls({ output: items })) return 'missing_tool_call'
  // A call for the client replaces the text; a call that ran at the provider does not.
  if (items.some(({ type }) => type === 'function_call' || type === 'custom_tool_call')) return 'whole'
  const text = parts.map(part => (typeof part.text === 'string' ? part.text : '')).join('')
  return hasExpectedTextFormat(text, expected) ? 'whole' : 'invalid_json'
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
export function hasResponseToolCalls({ output }: JsonObject): boolean {
  return asObjects(output).some(({ type }) => /_(call|request|output)$/.test(asString(type)))
}

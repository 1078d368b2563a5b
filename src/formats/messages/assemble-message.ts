/** Assembles the events of a Messages stream into the plain message, and judges whether a message is complete. Only complete ones are cached. */

import type { AssembledStream, StreamAssembler } from '../api-format.ts'
import { type Completeness, MAX_EMPTY_RESPONSE_TOKENS } from '../chat/completeness.ts'
import {
  type ExpectedOutput,
  hasExpectedTextFormat,
  isTruncatedByProvider,
  readOutputTokens,
} from '../expected-output.ts'
import { asNumber, asObjects, asString, isBlank, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { tryParseLosslessJson } from '../json/lossless-json.ts'
import { ChunkAssembler } from '../sse/chunk-reader.ts'
import { TextMeter, textLengthOf } from '../text-meter.ts'
import { mergeUsage } from '../usage/merge-usage.ts'

const NO_EXPECTATIONS: ExpectedOutput = { clientSetOutputLimit: true }

export class MessageAssembler extends ChunkAssembler implements StreamAssembler {
  readonly #blocks: JsonObject[] = []
  readonly #open = new Set<JsonObject>()
  /** The JSON text of each tool block's input so far. */
  readonly #inputs = new Map<JsonObject, string>()
  readonly meter = new TextMeter(() => textLengthOf([this.#blocks, ...this.#inputs.values()]))
  #body: JsonObject | null = null
  #sawEnd = false

  /** Replaces all blocks by one with a sample of the text. */
  discardText(): void {
    if (this.meter.isDiscarded) return
    this.meter.isDiscarded = true
    this.reader.markIncomplete('too_large')
    const text = this.meter.sampleText(joinTexts(this.#blocks, this.#inputs))
    this.#blocks.splice(0, this.#blocks.length, { type: 'text', text })
    this.#inputs.clear()
    this.#open.clear()
  }

  push(data: string, name?: string | null): null | undefined {
    if (this.#sawEnd) return
    this.meter.countEvent(data)
    const event = this.reader.read(data, name)
    if (event) this.add(event)
    return this.reader.isMalformed ? null : undefined
  }

  /** Adds a parsed event. The event becomes part of the message: do not change it afterwards. */
  add(event: JsonObject): void {
    const { type, index } = event
    if (isToken(event)) this.tokens++
    if (this.meter.isDiscarded && asString(type).startsWith('content_block_'))
      return void countDiscardedDelta(event, this.meter)
    const block = this.#blocks[asNumber(index)]
    if (type === 'message_start') this.#begin(event)
    else if (type === 'content_block_start') this.#startBlock(event)
    else if (type === 'content_block_delta') this.#continueBlock(block, event)
    else if (type === 'content_block_stop' && block) {
      this.#open.delete(block)
      closeInput(block, this.#inputs)
    } else if (type === 'message_delta' && this.#body) endMessage(this.#body, event)
    else if (type === 'message_stop') this.#sawEnd = true
    else if (type === 'error') this.reader.addError(event.error ?? event)
  }

  #begin({ message }: JsonObject): void {
    if (!isJsonObject(message)) return
    this.#body = { ...message, content: this.#blocks }
    if (isJsonObject(message.usage)) this.#body.usage = { ...message.usage }
    // The message in the first event usually has no blocks. If a provider sends some, they count.
    this.#blocks.push(...asObjects(message.content))
  }

  #startBlock({ content_block: block }: JsonObject): void {
    if (!isJsonObject(block)) return
    const openBlock = { ...block }
    this.#blocks.push(openBlock)
    this.#open.add(openBlock)
  }

  #continueBlock(block: JsonObject | undefined, { delta }: JsonObject): void {
    if (!block || !isJsonObject(delta) || !addDelta(block, delta, this.#inputs))
      this.reader.markIncomplete('inconsistent_chunks')
  }

  finish(): AssembledStream {
    // The input of a truncated call contains what has arrived.
    for (const block of this.#open) closeInput(block, this.#inputs)
    const body = this.#body
    // Some servers omit the end of a block. Clients read the message nevertheless.
    if (this.#open.size > 0) this.reader.markIncomplete('inconsistent_chunks')
    const hasEnded = this.#sawEnd || typeof body?.stop_reason === 'string'
    const judged = hasEnded ? completenessOfMessage(body, this.expected) : 'missing_end'
    const { error } = this.reader
    return {
      body: body ?? {},
      usage: body?.usage ?? null,
      completeness: this.reader.resolveCompleteness(judged),
      error,
    }
  }
}

/** Whether an event begins or continues a block. An empty text block and an empty delta do not count: they may stay empty. */
function isToken({ type, content_block: block, delta }: JsonObject): boolean {
  if (type === 'content_block_start' && isJsonObject(block)) return block.type !== 'text' || asString(block.text) !== ''
  if (type !== 'content_block_delta') return false
  return !isJsonObject(delta) || Object.keys(delta).some(key => key !== 'type' && !isBlank(delta[key]))
}

export function createMessageAssembler(expected: ExpectedOutput = NO_EXPECTATIONS): MessageAssembler {
  return new MessageAssembler(expected)
}

function closeInput(block: JsonObject, inputs: ReadonlyMap<JsonObject, string>): void {
  const text = inputs.get(block)
  if (text !== undefined) block.input = parseToolInput(text)
}

function joinTexts(blocks: readonly JsonObject[], inputs: ReadonlyMap<JsonObject, string>): string {
  return blocks.map(block => inputs.get(block) ?? asString(block.text ?? block.thinking)).join('\n')
}

function countDiscardedDelta({ delta }: JsonObject, meter: TextMeter): void {
  if (isJsonObject(delta)) meter.countDiscarded([delta.text, delta.thinking, delta.partial_json])
}

/** Merges the last event, whose counts cover the whole message. */
function endMessage(body: JsonObject, { delta, usage, ...rest }: JsonObject): void {
  body.usage = mergeUsage(body.usage, usage, { isCumulative: true }) ?? {}
  const { type: _type, ...otherFields } = rest
  for (const fields of [otherFields, isJsonObject(delta) ? delta : {}]) Object.assign(body, fields)
}

/** Adds a delta to a block. Returns false for an unknown kind of delta, with which the block cannot be assembled. */
function addDelta(block: JsonObject, delta: JsonObject, inputs: Map<JsonObject, string>): boolean {
  switch (delta.type) {
    case 'text_delta':
      block.text = `${block.text ?? ''}${delta.text}`
      return true
    case 'thinking_delta':
      block.thinking = `${block.thinking ?? ''}${delta.thinking}`
      return true
    case 'signature_delta':
      block.signature = delta.signature
      return true
    case 'citations_delta':
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation]
      return true
    case 'input_json_delta':
      inputs.set(block, `${inputs.get(block) ?? ''}${delta.partial_json}`)
      return true
    default:
      return false
  }
}

/** Regular stop reasons. `max_tokens` is regular because the Messages API requires the client to set a limit. */
const REGULAR_STOP_REASONS = new Set(['end_turn', 'stop_sequence', 'tool_use', 'max_tokens'])

export function completenessOfMessage(body: unknown, expected: ExpectedOutput = NO_EXPECTATIONS): Completeness {
  if (!isJsonObject(body)) return 'not_a_response'
  if (body.type === 'error') return 'error_in_body'
  if (body.type !== 'message' || !Array.isArray(body.content)) return 'not_a_response'
  const { stop_reason: reason } = body
  // The client has to continue a paused turn.
  if (reason === 'pause_turn') return 'pending'
  if (typeof reason !== 'string') return 'unfinished_choice'
  if (reason === 'refusal') return 'content_filter'
  if (reason === 'model_context_window_exceeded') return 'provider_length_limit'
  if (!REGULAR_STOP_REASONS.has(reason)) return 'unknown_stop_reason'
  if (reason === 'max_tokens' && isTruncatedByProvider(expected, readOutputTokens(body, 'output_tokens')))
    return 'provider_length_limit'
  const blocks = body.content.filter(isJsonObject)
  if (blocks.some(hasContent)) return completenessOfBlocks(blocks, expected)
  const hasHiddenOutput =
    reason === 'end_turn' &&
    (readOutputTokens(body, 'output_tokens') ?? 0) > MAX_EMPTY_RESPONSE_TOKENS &&
    !blocks.some(isThinkingBlock)
  return hasHiddenOutput ? 'no_output' : 'empty_message'
}

function completenessOfBlocks(blocks: readonly JsonObject[], expected: ExpectedOutput): Completeness {
  const calls = blocks.filter(callsTool)
  if (!calls.every(({ input }) => isJsonObject(input) && !Object.hasOwn(input, INVALID_JSON)))
    return 'invalid_arguments'
  if (expected.requiresToolCall && calls.length === 0) return 'missing_tool_call'
  // A call for the client replaces the text; a call that ran at the provider does not.
  if (calls.some(({ type }) => type === 'tool_use')) return 'whole'
  const text = blocks.map(block => (block.type === 'text' ? block.text : '')).join('')
  return hasExpectedTextFormat(text, expected) ? 'whole' : 'invalid_json'
}

const callsTool = ({ type }: JsonObject) => asString(type).endsWith('tool_use')

function hasContent(block: JsonObject): boolean {
  return block.type === 'text' ? block.text !== '' : !isThinkingBlock(block)
}

export function isThinkingBlock({ type }: { type?: unknown }): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Whether the message calls a tool. Such messages are never served from a semantic match. */
export function hasToolUses({ content }: JsonObject): boolean {
  return asObjects(content).some(callsTool)
}

/** The field for text that is not a JSON object, for example because it is truncated. No tool expects this name, so the text stays visible. */
const INVALID_JSON = 'INVALID_JSON'

export function parseToolInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  const input = tryParseLosslessJson(text)
  return isJsonObject(input) ? input : { [INVALID_JSON]: text }
}

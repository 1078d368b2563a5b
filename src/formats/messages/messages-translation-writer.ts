/** Writes a Messages response from a chat response, event by event. Each part continues the open block of its kind, or opens a new one. */

import type { ProxyError } from '../../errors/errors.ts'
import type { FinishKind } from '../chat/completeness.ts'
import type { PartSource, ResponseMetadata } from '../chat/part-reader.ts'
import { type ExtrasKeys, packExtras } from '../chat/provider-extras.ts'
import { type JsonObject, sha256 } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'
import { createStopSequenceFilter } from '../stop-sequence-filter.ts'
import type { TranslationWriter } from '../translate-response.ts'
import { writeAnthropicError } from './message-errors.ts'
import { toAnthropicUsage } from './message-usage.ts'

export interface MessageTranslationContext {
  /** The requested model, which is reported when the provider does not name the responding model. */
  model: string
  /** An estimate, which is reported before the provider's count is known. */
  inputTokens: number
  requestId: string
  /** Keys for packing the provider extras of the response. */
  extrasKeys: ExtrasKeys
  /** The stop sequences, if the provider does not support them. They end the response, though not its generation. */
  stopSequences?: readonly string[]
}

export class MessagesTranslationWriter implements TranslationWriter {
  readonly #writer = new MessageEventWriter()
  readonly #context: MessageTranslationContext
  readonly #reader: () => PartSource
  readonly #stops: ReturnType<typeof createStopSequenceFilter>
  #open: 'thinking' | 'text' | 'tool_use' | null = null
  #blocks = 0
  /** The text from which ids are derived. */
  #idBase = ''
  #hasCalls = false
  /** The text of the model's refusal; null without one. */
  #refusal: string | null = null

  constructor(context: MessageTranslationContext, reader: () => PartSource) {
    this.#context = context
    this.#stops = createStopSequenceFilter(context.stopSequences ?? [])
    this.#reader = reader
  }

  begin(metadata: ResponseMetadata): void {
    this.#idBase = sha256(metadata.id === '' ? this.#context.requestId : metadata.id).slice(0, 24)
    this.#writer.write('message_start', { message: this.#createInitialMessage(metadata) })
  }

  /** Ends the open text block, so that messages stay separate, and reasoning between them has a place. */
  beginMessage(): void {
    if (!this.#endText() && this.#open === 'text') this.#open = null
  }

  addReasoning(text: string): void {
    if (this.#endText()) return
    if (this.#open !== 'thinking') this.#openBlock('thinking', { type: 'thinking', thinking: '', signature: '' })
    this.#writer.writeDelta({ type: 'thinking_delta', thinking: text })
  }

  addText(text: string): void {
    const isStopped = this.#stops.stoppedBy !== null
    const before = this.#stops.push(text)
    // An empty text opens a block, unless it was held back or follows a stop sequence.
    if (!isStopped && (before !== '' || text === '')) this.#writeText(before)
  }

  #writeText(text: string): void {
    if (this.#open !== 'text') this.#openBlock('text', { type: 'text', text: '' })
    this.#writer.writeDelta({ type: 'text_delta', text })
  }

  addRefusal(text: string): void {
    this.#refusal = (this.#refusal ?? '') + text
    this.addText(text)
  }

  createCallId(): string {
    return `toolu_${this.#idBase.slice(0, 20)}${this.#blocks}`
  }

  startCall(id: string, name: string): void {
    if (this.#endText()) return
    this.#hasCalls = true
    this.#openBlock('tool_use', { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } })
  }

  addArguments(fragment: string): void {
    if (this.#stops.stoppedBy === null) this.#writer.writeDelta({ type: 'input_json_delta', partial_json: fragment })
  }

  /** Rejects annotations. Anthropic's citations refer to the request's documents; other sources have no counterpart. */
  addAnnotations(): boolean {
    return false
  }

  addImage(): boolean {
    return false
  }

  end(finishKind: FinishKind, usage: JsonObject | null): void {
    this.#endText()
    this.#closeBlocks()
    const stop_reason = this.#chooseStopReason(finishKind)
    const stop_details = { type: 'refusal', category: null, explanation: this.#refusal }
    this.#writer.write('message_delta', {
      delta: {
        stop_reason,
        stop_sequence: this.#stops.stoppedBy,
        ...(stop_reason === 'refusal' ? { stop_details } : {}),
      },
      usage: toAnthropicUsage(usage),
    })
    this.#writer.write('message_stop')
  }

  fail(error: ProxyError): void {
    const { type, error: body } = writeAnthropicError(error, this.#context.requestId)
    this.#writer.write(type, { error: body })
  }

  drainEvents(): TypedEvent[] {
    return this.#writer.drainEvents()
  }

  /** Returns the stop reason. Clients run tool calls only for `tool_use`, but some providers report `stop` with calls, so calls take precedence. */
  #chooseStopReason(finishKind: FinishKind): string {
    if (this.#stops.stoppedBy !== null) return this.#hasCalls ? 'tool_use' : 'stop_sequence'
    if (finishKind === 'length') return 'max_tokens'
    if (finishKind === 'filtered') return 'refusal'
    if (this.#hasCalls) return 'tool_use'
    return this.#refusal === null ? 'end_turn' : 'refusal'
  }

  /** Writes the text that was held back as the possible beginning of a stop sequence. Returns whether a stop sequence has ended the response. */
  #endText(): boolean {
    const held = this.#stops.end()
    if (held !== '') this.#writeText(held)
    return this.#stops.stoppedBy !== null
  }

  /** Closes the last block. Writes no extras after the text that ends a turn, because clients read the response from the last block. */
  #closeBlocks(): void {
    if (this.#open === 'thinking') this.#sign()
    else if (this.#hasCalls || this.#open === null) this.#addExtrasBlock()
    this.#writer.closeBlock()
  }

  #openBlock(kind: 'thinking' | 'text' | 'tool_use', block: JsonObject): void {
    if (kind !== 'thinking') this.#writeCompleteExtras()
    this.#open = kind
    this.#blocks++
    this.#writer.openBlock(block)
  }

  /** Writes the extras if they are complete. Incomplete extras follow at the end in a separate block, because blocks do not overlap. */
  #writeCompleteExtras(): void {
    const { extras } = this.#reader()
    if (this.#open === 'thinking') {
      if (!extras.isSignaturePending) this.#sign()
    } else if (extras.isComplete) this.#addExtrasBlock()
  }

  #pack(): string | null {
    return packExtras(this.#reader().extras.take(), this.#context.extrasKeys)
  }

  #sign(): void {
    const signature = this.#pack()
    if (signature !== null) this.#writer.writeDelta({ type: 'signature_delta', signature })
  }

  /** Writes the extras as a redacted thinking block, which clients send back unread. */
  #addExtrasBlock(): void {
    const data = this.#pack()
    if (data === null) return
    this.#writer.openBlock({ type: 'redacted_thinking', data })
    this.#open = null
    this.#blocks++
  }

  #createInitialMessage({ model }: ResponseMetadata): JsonObject {
    return {
      id: `msg_${this.#idBase}`,
      type: 'message',
      role: 'assistant',
      model: model === '' ? this.#context.model : model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toAnthropicUsage({ prompt_tokens: this.#context.inputTokens }),
    }
  }
}

export class MessageEventWriter {
  readonly #written: TypedEvent[] = []
  #index = -1
  #isOpen = false

  write(type: string, fields: JsonObject = {}): void {
    this.#written.push({ type, ...fields })
  }

  /** Closes the open block and begins the next. `block` is the block without its content. */
  openBlock(block: JsonObject): void {
    this.closeBlock()
    this.#isOpen = true
    this.write('content_block_start', { index: ++this.#index, content_block: block })
  }

  /** Adds a piece to the open block. */
  writeDelta(delta: JsonObject): void {
    this.write('content_block_delta', { index: this.#index, delta })
  }

  /** Closes the open block, if there is one. */
  closeBlock(): void {
    if (this.#isOpen) this.write('content_block_stop', { index: this.#index })
    this.#isOpen = false
  }

  /** Returns the events written since the last call. */
  drainEvents(): TypedEvent[] {
    return this.#written.splice(0)
  }
}

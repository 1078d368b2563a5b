/** Builds a Messages response from a chat response, event by event: each step continues the open block of its kind, or opens a new one. */

import { type PendingCarried, packCarried } from '../chat/carried.ts'
import type { AnswerHead, AnswerSteps } from '../chat/read-chat-answer.ts'
import { type JsonObject, sha256 } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'
import { writeUsage } from './message-usage.ts'

export interface MessageContext {
  /** The requested model: reported when the provider does not name the model that answered. */
  model: string
  /** An estimate, reported before the provider has counted. */
  inputTokens: number
  requestId: string
  /** The provider and its model, to which what an answer carries is bound. */
  origin: string
}

export class GrowingMessage implements AnswerSteps {
  readonly #writer: MessageWriter
  readonly #context: MessageContext
  readonly #carried: () => PendingCarried
  #open: 'thinking' | 'text' | 'tool_use' | null = null
  #blocks = 0
  /** Ids are derived from it. */
  #base = ''
  hasCalls = false
  /** The text of the model's refusal; null when it did not refuse. */
  refusal: string | null = null

  constructor(writer: MessageWriter, context: MessageContext, carried: () => PendingCarried) {
    this.#writer = writer
    this.#context = context
    this.#carried = carried
  }

  begin(head: AnswerHead): void {
    this.#base = sha256(head.id === '' ? this.#context.requestId : head.id).slice(0, 24)
    this.#writer.write('message_start', { message: this.#writeOpening(head) })
  }

  addReasoning(text: string): void {
    if (this.#open !== 'thinking') this.#openBlock('thinking', { type: 'thinking', thinking: '', signature: '' })
    this.#writer.delta({ type: 'thinking_delta', thinking: text })
  }

  addText(text: string): void {
    if (this.#open !== 'text') this.#openBlock('text', { type: 'text', text: '' })
    this.#writer.delta({ type: 'text_delta', text })
  }

  addRefusal(text: string): void {
    this.refusal = (this.refusal ?? '') + text
    this.addText(text)
  }

  makeCallId(): string {
    return `toolu_${this.#base.slice(0, 20)}${this.#blocks}`
  }

  startCall(id: string, name: string): void {
    this.hasCalls = true
    this.#openBlock('tool_use', { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } })
  }

  continueCall(fragment: string): void {
    this.#writer.delta({ type: 'input_json_delta', partial_json: fragment })
  }

  /** Does nothing. Anthropic's citations point into the request's documents; other sources have no counterpart there. */
  annotate(): void {}

  /** Call after the last step. Nothing follows the text that ends a turn: clients take their answer from the last block. */
  end(): void {
    if (this.#open === 'thinking') this.#sign()
    else if (this.hasCalls || this.#open === null) this.#addCarried()
    this.#writer.close()
  }

  #openBlock(kind: 'thinking' | 'text' | 'tool_use', block: JsonObject): void {
    if (kind !== 'thinking') this.#writeWhole()
    this.#open = kind
    this.#blocks++
    this.#writer.open(block)
  }

  /** Writes what has arrived whole. The rest follows at the end, in a block of its own: blocks end before the next one begins. */
  #writeWhole(): void {
    const carried = this.#carried()
    if (this.#open === 'thinking') {
      if (!carried.isGrowing) this.#sign()
    } else if (carried.isWhole) this.#addCarried()
  }

  #pack(): string | null {
    return packCarried(this.#carried().take(), this.#context.origin)
  }

  #sign(): void {
    const signature = this.#pack()
    if (signature !== null) this.#writer.delta({ type: 'signature_delta', signature })
  }

  /** Without a thought's text, it is a block that clients send back unread. */
  #addCarried(): void {
    const data = this.#pack()
    if (data === null) return
    this.#writer.open({ type: 'redacted_thinking', data })
    this.#open = null
    this.#blocks++
  }

  #writeOpening({ model }: AnswerHead): JsonObject {
    return {
      id: `msg_${this.#base}`,
      type: 'message',
      role: 'assistant',
      model: model === '' ? this.#context.model : model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeUsage({ prompt_tokens: this.#context.inputTokens }),
    }
  }
}

export interface MessageWriter {
  write(type: string, fields?: JsonObject): void
  /** Closes the open block and begins the next. `block` is the block without its content. */
  open(block: JsonObject): void
  /** Adds a piece to the open block. */
  delta(delta: JsonObject): void
  /** Closes the open block, if there is one. */
  close(): void
  /** Returns the events written since the last call. */
  take(): TypedEvent[]
}

export function createMessageWriter(): MessageWriter {
  let written: TypedEvent[] = []
  let index = -1
  let isOpen = false

  function write(type: string, fields: JsonObject = {}): void {
    written.push({ type, ...fields })
  }

  function close(): void {
    if (isOpen) write('content_block_stop', { index })
    isOpen = false
  }

  return {
    write,
    close,
    open(block) {
      close()
      isOpen = true
      write('content_block_start', { index: ++index, content_block: block })
    },
    delta: delta => write('content_block_delta', { index, delta }),
    take() {
      const taken = written
      written = []
      return taken
    },
  }
}

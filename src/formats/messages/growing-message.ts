/** Builds a Messages response from a chat response, event by event: each step continues the open block of its kind, or opens a new one. */

import type { JsonObject } from '../../json/json-object.ts'
import type { AnswerHead, AnswerSteps } from '../chat/read-chat-answer.ts'
import { packProof } from '../chat/thought.ts'
import type { TypedEvent } from '../sse/sse.ts'
import { OPENING_USAGE, writeUsage } from './message-usage.ts'

export interface MessageContext {
  /** The requested model: reported when the provider does not name the model that answered. */
  model: string
  /** An estimate, reported before the provider has counted. */
  inputTokens: number
  requestId: string
}

export class GrowingMessage implements AnswerSteps {
  readonly #writer: MessageWriter
  readonly #context: MessageContext
  /** Returns the fields received so far that prove the reasoning to be the model's own. */
  readonly #readProof: () => JsonObject
  #open: 'thinking' | 'text' | 'tool_use' | null = null
  #blocks = 0
  #isProved = false
  /** Ids are derived from it. */
  #base = ''
  #hasCalls = false
  #refusal: string | null = null

  constructor(writer: MessageWriter, context: MessageContext, readProof: () => JsonObject) {
    this.#writer = writer
    this.#context = context
    this.#readProof = readProof
  }

  get hasCalls(): boolean {
    return this.#hasCalls
  }

  /** The text of the model's refusal; null when it did not refuse. */
  get refusal(): string | null {
    return this.#refusal
  }

  begin(head: AnswerHead): void {
    this.#base = hashId(head.id === '' ? this.#context.requestId : head.id)
    this.#writer.write('message_start', { message: this.#writeOpening(head) })
  }

  addReasoning(text: string): void {
    if (this.#open !== 'thinking') this.#openBlock('thinking', { type: 'thinking', thinking: '', signature: '' })
    this.#writer.delta({ type: 'thinking_delta', thinking: text })
  }

  addText(text: string): void {
    if (this.#open !== 'text') this.#openBlock('text', { type: 'text', text: '', citations: null })
    this.#writer.delta({ type: 'text_delta', text })
  }

  addRefusal(text: string): void {
    this.#refusal = (this.#refusal ?? '') + text
    this.addText(text)
  }

  startCall(id: string, name: string): void {
    this.#hasCalls = true
    const callId = id === '' ? `toolu_${this.#base.slice(0, 20)}${this.#blocks}` : id
    this.#openBlock('tool_use', { type: 'tool_use', id: callId, name, input: {}, caller: { type: 'direct' } })
  }

  continueCall(fragment: string): void {
    this.#writer.delta({ type: 'input_json_delta', partial_json: fragment })
  }

  /** Does nothing. Anthropic's citations point into the request's documents; other sources have no counterpart there. */
  annotate(): void {}

  /** Call after the last step. */
  end(): void {
    this.#prove()
    this.#writer.close()
  }

  #openBlock(kind: 'thinking' | 'text' | 'tool_use', block: JsonObject): void {
    // The signature of a first reasoning block is written when that block ends, not before it begins.
    if (this.#open !== null || kind !== 'thinking') this.#prove()
    this.#open = kind
    this.#blocks++
    this.#writer.open(block)
  }

  /** Writes the signature. Reasoning comes first, so its proof has arrived completely when the reasoning ends. */
  #prove(): void {
    const packed = this.#isProved ? null : packProof(this.#readProof())
    this.#isProved = true
    if (packed === null) return
    if (this.#open === 'thinking' && this.#blocks === 1) {
      this.#writer.delta({ type: 'signature_delta', signature: packed })
    } else if (this.#open === null) {
      this.#writer.open({ type: 'redacted_thinking', data: packed })
      this.#blocks++
    }
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
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: { ...writeUsage({ prompt_tokens: this.#context.inputTokens }), ...OPENING_USAGE },
    }
  }
}

function hashId(id: string): string {
  return Bun.SHA256.hash(id, 'hex').slice(0, 24)
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

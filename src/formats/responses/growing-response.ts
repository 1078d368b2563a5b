/** Builds a Responses response from a chat response: each step continues the open item of its kind, or opens a new one. */
import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import type { AnswerHead, AnswerSteps } from '../chat/read-chat-answer.ts'
import { packProof } from '../chat/thought.ts'
import {
  type CallItem,
  type ItemStatus,
  type MessageItem,
  type OpenItem,
  openCall,
  openMessage,
  openReasoning,
  type ReasoningItem,
} from './open-items.ts'
import type { EventWriter } from './response-events.ts'
import type { ResponseContext } from './write-response.ts'
import { type ResponseParts, writeResponse } from './write-response.ts'

export class GrowingResponse implements AnswerSteps {
  readonly #writer: EventWriter
  readonly #context: ResponseContext
  /** Returns the fields received so far that prove the reasoning to be the model's own. */
  readonly #readProof: () => JsonObject
  readonly #items: OpenItem[] = []
  #head: AnswerHead
  /** The items' ids are derived from it. */
  #base: string

  constructor(writer: EventWriter, context: ResponseContext, readProof: () => JsonObject) {
    this.#writer = writer
    this.#context = context
    this.#readProof = readProof
    this.#head = { id: '', model: String(context.body.model ?? ''), createdSeconds: nowSeconds() }
    this.#base = hashId(context.requestId)
  }

  begin(begun: AnswerHead): void {
    this.#head = { ...begun, model: begun.model === '' ? this.#head.model : begun.model }
    if (begun.id !== '') this.#base = hashId(begun.id)
    this.#writer.write('response.created', { response: this.#write({ status: 'in_progress' }) })
    this.#writer.write('response.in_progress', { response: this.#write({ status: 'in_progress' }) })
  }

  addReasoning(text: string): void {
    this.#reasoning().addReasoning(text)
  }

  addText(text: string, logprobs: unknown[]): void {
    this.#message().addText(text, this.#context.keepsLogprobs ? logprobs : [])
  }

  addRefusal(text: string): void {
    this.#message().addRefusal(text)
  }

  startCall(id: string, name: string): void {
    const callId = id === '' ? `call_${this.#base}${this.#items.length}` : id
    // A call of a tool that was not offered keeps the name it was called by.
    const tool = this.#context.tools.get(name) ?? { name, namespace: '', isCustom: false }
    this.#add(openCall(this.#place(tool.isCustom ? 'ctc' : 'fc'), { ...tool, callId }))
  }

  continueCall(fragment: string): void {
    const call = this.#items.at(-1) as CallItem
    call.continue(fragment)
  }

  annotate(annotations: JsonObject[]): void {
    const message = this.#items.findLast(({ kind }) => kind === 'message') as MessageItem | undefined
    message?.annotate(annotations)
  }

  /** Call after the last step. `incompleteReason` is set when the response was cut. */
  end(usage: JsonObject | null, incompleteReason: ResponseParts['incompleteReason']): void {
    const status = incompleteReason ? 'incomplete' : 'completed'
    const hasSpoken = this.#items.some(({ kind }) => kind !== 'reasoning')
    // A complete response without content still has one empty message.
    if (!hasSpoken && incompleteReason === undefined) this.#message().addText('', [])
    this.#closeLast(status)
    const ended = { status, output: this.#output(), usage, ...(incompleteReason ? { incompleteReason } : {}) } as const
    this.#writer.write(`response.${status}`, { response: this.#write(ended) })
  }

  breakOff(usage: JsonObject | null, { code, message }: Pick<ProxyError, 'code' | 'message'>): void {
    const error = { code: code === 'rate_limit_exceeded' ? code : 'server_error', message }
    this.#writer.write('error', { code, message, param: null })
    const failed = { status: 'failed', output: this.#output(), error, usage } as const
    this.#writer.write('response.failed', { response: this.#write(failed) })
  }

  #reasoning(): ReasoningItem {
    const last = this.#items.at(-1)
    return last?.kind === 'reasoning' ? (last as ReasoningItem) : this.#add(openReasoning(this.#place('rs')))
  }

  #message(): MessageItem {
    const last = this.#items.at(-1)
    return last?.kind === 'message' ? (last as MessageItem) : this.#add(openMessage(this.#place('msg')))
  }

  #place(prefix: string) {
    // The proof of a first reasoning item is added when that item ends, not before it begins.
    if (this.#items.length > 0 || prefix !== 'rs') this.#closeLast('completed')
    const index = this.#items.length
    return { writer: this.#writer, index, id: `${prefix}_${this.#base}${index.toString(16).padStart(4, '0')}` }
  }

  #add<Item extends OpenItem>(item: Item): Item {
    this.#items.push(item)
    return item
  }

  #closeLast(status: ItemStatus): void {
    this.#prove()
    this.#items.at(-1)?.close(status)
  }

  /** Adds the proof. Reasoning comes first, so its proof has arrived completely when the reasoning ends. */
  #prove(): void {
    const packed = this.#context.keepsProof ? packProof(this.#readProof()) : null
    if (packed === null) return
    const [first] = this.#items
    if (!first) this.#reasoning().prove(packed)
    else if (this.#items.length === 1 && first.kind === 'reasoning') (first as ReasoningItem).prove(packed)
  }

  #output(): JsonObject[] {
    return this.#items.map(({ item }) => item)
  }

  #write(parts: Pick<ResponseParts, 'status'> & Partial<ResponseParts>): JsonObject {
    const { createdSeconds, model } = this.#head
    const written = { id: `resp_${this.#base}`, createdSeconds, model, output: [], usage: null, ...parts }
    return writeResponse(written, this.#context.body)
  }
}

function hashId(id: string): string {
  return Bun.SHA256.hash(id, 'hex').slice(0, 44)
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

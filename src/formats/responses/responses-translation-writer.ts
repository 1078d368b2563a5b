/** Builds a Responses response from a chat response: each step continues the open item of its kind, or opens a new one. */
import type { ProxyError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import type { FinishKind } from '../chat/finish-reason.ts'
import type { PartReader, ResponseMetadata } from '../chat/part-reader.ts'
import { packExtras } from '../chat/provider-extras.ts'
import { asString, type JsonObject } from '../json/canonical.ts'
import type { TypedEvent } from '../sse/sse.ts'
import type { TranslationWriter } from '../translate-response.ts'
import {
  beginCallItem,
  beginMessageItem,
  beginReasoningItem,
  type CallItemBuilder,
  type ItemStatus,
  type MessageItemBuilder,
  type OutputItemBuilder,
  type ReasoningItemBuilder,
  writeImageItem,
} from './output-item-builders.ts'
import { CLIENT_ERROR_TYPES, createResponseEventWriter } from './response-events.ts'
import { type ResponseContext, type ResponseParts, writeResponseObject } from './write-response.ts'

const INCOMPLETE_REASONS: Partial<Record<FinishKind, ResponseParts['incompleteReason']>> = {
  length: 'max_output_tokens',
  filtered: 'content_filter',
}

export class ResponsesTranslationWriter implements TranslationWriter {
  readonly #writer = createResponseEventWriter()
  readonly #context: ResponseContext
  readonly #reader: () => PartReader
  readonly #items: OutputItemBuilder[] = []
  /** The reasoning whose proof is still arriving: it ends once that is whole. */
  #waiting: ReasoningItemBuilder | null = null
  #head: ResponseMetadata
  /** The items' ids are derived from it. */
  #base: string

  constructor(context: ResponseContext, reader: () => PartReader) {
    this.#context = context
    this.#reader = reader
    this.#head = { id: '', model: asString(context.body.model), createdSeconds: nowSeconds() }
    this.#base = hashId(context.requestId)
  }

  begin(begun: ResponseMetadata): void {
    this.#head = { ...begun, model: begun.model === '' ? this.#head.model : begun.model }
    if (begun.id !== '') this.#base = hashId(begun.id)
    this.#writer.write('response.created', { response: this.#write({ status: 'in_progress' }) })
    this.#writer.write('response.in_progress', { response: this.#write({ status: 'in_progress' }) })
  }

  addReasoning(text: string): void {
    this.#reasoning().addReasoning(text)
  }

  addText(text: string, logprobs: unknown[]): void {
    this.#message().addText(text, this.#context.includesLogprobs ? logprobs : [])
  }

  addRefusal(text: string): void {
    this.#message().addRefusal(text)
  }

  createCallId(): string {
    return `call_${this.#base}${this.#items.length}`
  }

  startCall(callId: string, name: string): void {
    // A call of a tool that was not offered keeps the name it was called by.
    const tool = this.#context.tools.get(name) ?? { name, namespace: '', isCustom: false }
    this.#add(beginCallItem(this.#place(tool.isCustom ? 'ctc' : 'fc'), { ...tool, callId }))
  }

  addArguments(fragment: string): void {
    const call = this.#items.at(-1) as CallItemBuilder
    call.addArguments(fragment)
  }

  addAnnotations(annotations: JsonObject[]): boolean {
    const message = this.#items.findLast(({ kind }) => kind === 'message') as MessageItemBuilder | undefined
    return message?.addAnnotations(annotations) ?? false
  }

  addImage(url: string): boolean {
    const data = /^data:image\/[\w.+-]+;base64,/.exec(url)
    if (data) this.#add(writeImageItem(this.#place('ig'), url.slice(data[0].length)))
    return data !== null
  }

  addAudio(): boolean {
    return false
  }

  end(ending: FinishKind, usage: JsonObject | null): void {
    const incompleteReason = INCOMPLETE_REASONS[ending]
    const status = incompleteReason ? 'incomplete' : 'completed'
    const hasSpoken = this.#items.some(({ kind }) => kind !== 'reasoning')
    // A complete response without content still has one empty message.
    if (!hasSpoken && incompleteReason === undefined) this.#message().addText('', [])
    this.#proveWaiting()
    this.#closeLast(status, true)
    this.#addLate()
    const ended = { status, output: this.#output(), usage, ...(incompleteReason ? { incompleteReason } : {}) } as const
    this.#writer.write(`response.${status}`, { response: this.#write(ended) })
  }

  fail({ code, message }: Pick<ProxyError, 'code' | 'message'>, usage: JsonObject | null): void {
    const error = { code: CLIENT_ERROR_TYPES.has(code) ? code : 'server_error', message }
    this.#writer.writeError({ code, message })
    const failed = { status: 'failed', output: this.#output(), error, usage } as const
    this.#writer.write('response.failed', { response: this.#write(failed) })
  }

  drainEvents(): TypedEvent[] {
    return this.#writer.drainEvents()
  }

  #reasoning(): ReasoningItemBuilder {
    const last = this.#items.at(-1)
    return last?.kind === 'reasoning'
      ? (last as ReasoningItemBuilder)
      : this.#add(beginReasoningItem(this.#place('rs')))
  }

  #message(): MessageItemBuilder {
    const last = this.#items.at(-1)
    return last?.kind === 'message' ? (last as MessageItemBuilder) : this.#add(beginMessageItem(this.#place('msg')))
  }

  #place(prefix: string) {
    if (prefix !== 'rs') this.#addWhole()
    this.#closeLast('completed')
    return this.#placeAt(prefix, this.#items.length)
  }

  #placeAt(prefix: string, index: number) {
    return { writer: this.#writer, index, id: `${prefix}_${this.#base}${index.toString(16).padStart(4, '0')}` }
  }

  #add<Item extends OutputItemBuilder>(item: Item): Item {
    this.#items.push(item)
    return item
  }

  #closeLast(status: ItemStatus, isEnd = false): void {
    const last = this.#items.at(-1)
    if (last?.kind === 'reasoning') this.#closeReasoning(last as ReasoningItemBuilder, isEnd)
    else last?.close(status)
  }

  #closeReasoning(item: ReasoningItemBuilder, isEnd: boolean): void {
    item.closeText()
    if (!isEnd && this.#waiting === null && this.#reader().extras.isSignaturePending) this.#waiting = item
    else this.#prove(item)
  }

  #prove(item: ReasoningItemBuilder): void {
    const packed = this.#pack()
    if (packed !== null) item.setEncryptedContent(packed)
    item.close('completed')
  }

  /** Asked for or not: it comes back by itself, or by its item's id. */
  #pack(): string | null {
    return packExtras(this.#reader().extras.take(), this.#context.extrasKeys)
  }

  /** What is whole ends the reasoning that waits for it; without any text, it comes before what the model does next. */
  #addWhole(): void {
    if (!this.#reader().extras.isComplete) return
    if (this.#waiting) this.#proveWaiting()
    else if (this.#items.at(-1)?.kind !== 'reasoning') this.#reasoning()
  }

  #proveWaiting(): void {
    if (this.#waiting) this.#prove(this.#waiting)
    this.#waiting = null
  }

  /** What arrived after its reasoning had ended, or belongs to none, follows as an item of its own. */
  #addLate(): void {
    const packed = this.#pack()
    if (packed === null) return
    const index = this.#items.length
    const late = beginReasoningItem(this.#placeAt('rs', index))
    late.setEncryptedContent(packed)
    this.#add(late).close('completed')
  }

  #output(): JsonObject[] {
    return this.#items.map(({ item }) => item)
  }

  #write(parts: Pick<ResponseParts, 'status'> & Partial<ResponseParts>): JsonObject {
    const { createdSeconds, model } = this.#head
    const written = { id: `resp_${this.#base}`, createdSeconds, model, output: [], usage: null, ...parts }
    return writeResponseObject(written, this.#context.body)
  }
}

function hashId(id: string): string {
  return Bun.SHA256.hash(id, 'hex').slice(0, 44)
}

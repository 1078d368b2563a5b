/** Writes a Responses response from a chat response. Each part continues the open item of its kind, or opens a new one. */
import type { ProxyError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import type { FinishKind } from '../chat/completeness.ts'
import type { PartSource, ResponseMetadata } from '../chat/part-reader.ts'
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
import { CLIENT_ERROR_TYPES, ResponseEventWriter } from './response-events.ts'
import { type ResponseContext, type ResponseParts, writeResponseObject } from './write-response.ts'

const INCOMPLETE_REASONS: Partial<Record<FinishKind, ResponseParts['incompleteReason']>> = {
  length: 'max_output_tokens',
  filtered: 'content_filter',
}

export class ResponsesTranslationWriter implements TranslationWriter {
  readonly #writer = new ResponseEventWriter()
  readonly #context: ResponseContext
  readonly #reader: () => PartSource
  readonly #items: OutputItemBuilder[] = []
  /** The reasoning item whose signature is still arriving. The item is closed when the signature is complete. */
  #unsignedReasoning: ReasoningItemBuilder | null = null
  #metadata: ResponseMetadata
  /** The text from which the items' ids are derived. */
  #idBase: string

  constructor(context: ResponseContext, reader: () => PartSource) {
    this.#context = context
    this.#reader = reader
    this.#metadata = { id: '', model: asString(context.body.model), createdSeconds: nowSeconds() }
    this.#idBase = hashId(context.requestId)
  }

  begin(metadata: ResponseMetadata): void {
    this.#metadata = { ...metadata, model: metadata.model === '' ? this.#metadata.model : metadata.model }
    if (metadata.id !== '') this.#idBase = hashId(metadata.id)
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
    return `call_${this.#idBase}${this.#items.length}`
  }

  startCall(callId: string, name: string): void {
    // A call of a tool that was not offered keeps its name.
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

  end(finishKind: FinishKind, usage: JsonObject | null): void {
    const incompleteReason = INCOMPLETE_REASONS[finishKind]
    const status = incompleteReason ? 'incomplete' : 'completed'
    const hasContent = this.#items.some(({ kind }) => kind !== 'reasoning')
    // A complete response without content still has one empty message.
    if (!hasContent && incompleteReason === undefined) this.#message().addText('', [])
    this.#signPending()
    this.#closeLast(status, true)
    this.#addLateExtras()
    const parts = { status, output: this.#output(), usage, ...(incompleteReason ? { incompleteReason } : {}) } as const
    this.#writer.write(`response.${status}`, { response: this.#write(parts) })
  }

  fail({ code, message }: Pick<ProxyError, 'code' | 'message'>, usage: JsonObject | null): void {
    const error = { code: CLIENT_ERROR_TYPES.has(code) ? code : 'server_error', message }
    this.#writer.writeError({ code, message })
    const parts = { status: 'failed', output: this.#output(), error, usage } as const
    this.#writer.write('response.failed', { response: this.#write(parts) })
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
    if (prefix !== 'rs') this.#addCompleteExtras()
    this.#closeLast('completed')
    return this.#placeAt(prefix, this.#items.length)
  }

  #placeAt(prefix: string, index: number) {
    return { writer: this.#writer, index, id: `${prefix}_${this.#idBase}${index.toString(16).padStart(4, '0')}` }
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
    if (!isEnd && this.#unsignedReasoning === null && this.#reader().extras.isSignaturePending)
      this.#unsignedReasoning = item
    else this.#signAndClose(item)
  }

  #signAndClose(item: ReasoningItemBuilder): void {
    const packed = this.#pack()
    if (packed !== null) item.setEncryptedContent(packed)
    item.close('completed')
  }

  /** Packs the extras, even if the request does not include them. The client sends back the packed text or the item's id. */
  #pack(): string | null {
    return packExtras(this.#reader().extras.take(), this.#context.extrasKeys)
  }

  /** Adds complete extras to the reasoning that waits for them, or to new reasoning without text before the next item. */
  #addCompleteExtras(): void {
    if (!this.#reader().extras.isComplete) return
    if (this.#unsignedReasoning) this.#signPending()
    else if (this.#items.at(-1)?.kind !== 'reasoning') this.#reasoning()
  }

  #signPending(): void {
    if (this.#unsignedReasoning) this.#signAndClose(this.#unsignedReasoning)
    this.#unsignedReasoning = null
  }

  /** Adds extras that arrived after their reasoning was closed, or belong to none, as a separate item. */
  #addLateExtras(): void {
    const packed = this.#pack()
    if (packed === null) return
    const index = this.#items.length
    const reasoning = beginReasoningItem(this.#placeAt('rs', index))
    reasoning.setEncryptedContent(packed)
    this.#add(reasoning).close('completed')
  }

  #output(): JsonObject[] {
    return this.#items.map(({ item }) => item)
  }

  #write(parts: Pick<ResponseParts, 'status'> & Partial<ResponseParts>): JsonObject {
    const { createdSeconds, model } = this.#metadata
    const written = { id: `resp_${this.#idBase}`, createdSeconds, model, output: [], usage: null, ...parts }
    return writeResponseObject(written, this.#context.body)
  }
}

function hashId(id: string): string {
  return Bun.SHA256.hash(id, 'hex').slice(0, 44)
}

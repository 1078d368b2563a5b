/** Reads a response of the Responses API part by part. Events of an item wait until the item before it is complete. */

import { nowSeconds } from '../../event-loop/clock.ts'
import type { PartSource, PartWriter, ResponseMetadata } from '../chat/part-reader.ts'
import { BufferedProviderExtras } from '../chat/provider-extras.ts'
import { asNumber, asObjects, asString, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { extrasOfMessageItem, extrasOfReasoning } from './reasoning-items.ts'
import { LAST_EVENTS } from './response-events.ts'

interface OutputItem {
  id: string
  index: number
  /** Writes that wait for the items before this one. */
  pendingWrites: (() => void)[]
  /** Number of characters that were read of each text, by the kind and index of its part. */
  readChars: Map<string, number>
  isStarted: boolean
  isComplete: boolean
}

export class ResponsePartReader implements PartSource {
  readonly #writer: PartWriter
  /** The items in the order in which they began. */
  readonly #items: OutputItem[] = []
  readonly #callIds = new Set<string>()
  /** The position of the item that is written as it arrives. */
  #current = 0
  #metadata: ResponseMetadata = { id: '', model: '', createdSeconds: nowSeconds() }
  #hasBegun = false
  readonly extras = new BufferedProviderExtras()
  readonly omitted = new Set<string>()

  constructor(writer: PartWriter) {
    this.#writer = writer
  }

  read(event: JsonObject): void {
    const { type, response, item, delta, output_index: index } = event
    if (isJsonObject(response)) this.#readResponse(response, LAST_EVENTS.has(asString(type)))
    else if (type === 'response.output_item.added' && isJsonObject(item)) this.#begin(this.#find(item, index), item)
    else if (type === 'response.output_item.done' && isJsonObject(item)) this.#complete(this.#find(item, index), item)
    else if (typeof delta === 'string') this.#readDelta(event, delta)
  }

  end(): void {
    for (const item of this.#items) item.isComplete = true
    this.#advance()
    this.#beginResponse()
  }

  /** Reads the items of a whole response that had no events of their own. */
  #readResponse({ id, model, created_at: created, output }: JsonObject, isWhole: boolean): void {
    if (!this.#hasBegun) {
      const { createdSeconds } = this.#metadata
      this.#metadata = { id: asString(id), model: asString(model), createdSeconds: asNumber(created, createdSeconds) }
    }
    if (!isWhole) return
    for (const [index, item] of asObjects(output).entries()) this.#complete(this.#find(item, index), item)
  }

  #find(item: JsonObject, position: unknown): OutputItem {
    const id = asString(item.id)
    const index = asNumber(position, this.#items.length)
    const known = this.#items.find(each => each.index === index || (id !== '' && each.id === id))
    if (known) return known
    const added = { id, index, pendingWrites: [], readChars: new Map(), isStarted: false, isComplete: false }
    this.#items.push(added)
    return added
  }

  #begin(item: OutputItem, given: JsonObject): void {
    if (item.isStarted || item.isComplete) return
    if (given.type === 'function_call' && asString(given.name) !== '') this.#startCall(item, given)
    if (given.type !== 'message') return
    item.isStarted = true
    const extras = extrasOfMessageItem(given)
    this.#write(item, () => {
      this.#writer.beginMessage?.()
      // A phase without reasoning before it has no block in which it could come back.
      if (extras && !this.extras.isEmpty) this.extras.addMessage(extras)
    })
  }

  #readDelta({ type, item_id: id, output_index: index, ...event }: JsonObject, delta: string): void {
    const kind = DELTA_KINDS.get(asString(type))
    const item = this.#items.find(each => (index === undefined ? each.id === id : each.index === index))
    if (!kind || !item || item.isComplete) return
    if (kind === 'arguments' && !item.isStarted) return
    const part = asNumber(event.summary_index ?? event.content_index, 0)
    this.#addText(item, kind, part, delta)
  }

  /** Writes what has not been written of an item, and ends it. */
  #complete(item: OutputItem, given: JsonObject): void {
    if (item.isComplete) return
    const { type, summary, content } = given
    if (type === 'reasoning') {
      this.#addTexts(item, 'summary', asObjects(summary))
      this.#addTexts(item, 'reasoning', asObjects(content))
      const extras = extrasOfReasoning(given)
      if (extras) this.#write(item, () => this.extras.addMessage(extras))
    } else if (type === 'message') {
      this.#begin(item, given)
      this.#completeMessage(item, asObjects(content))
    } else if (type === 'function_call') {
      this.#startCall(item, given)
      this.#addRest(item, 'arguments', 0, asString(given.arguments))
    } else if (type === 'custom_tool_call') {
      this.#startCall(item, given)
      this.#addRest(item, 'arguments', 0, JSON.stringify({ input: asString(given.input) }))
    } else this.omitted.add(asString(type) || 'item')
    item.isComplete = true
    this.#advance()
  }

  #completeMessage(item: OutputItem, content: readonly JsonObject[]): void {
    for (const [index, { type, text, refusal, annotations }] of content.entries()) {
      if (type === 'refusal') this.#addRest(item, 'refusal', index, asString(refusal))
      else if (typeof text === 'string') this.#addRest(item, 'text', index, text)
      else this.omitted.add(asString(type) || 'part')
      const sources = asObjects(annotations)
      if (sources.length > 0)
        this.#write(item, () => this.#writer.addAnnotations(sources) || this.omitted.add('annotations'))
    }
  }

  #addTexts(item: OutputItem, kind: TextKind, parts: readonly JsonObject[]): void {
    for (const [index, { text }] of parts.entries()) this.#addRest(item, kind, index, asString(text))
  }

  /** Adds the rest of a text, of which deltas may have brought a part. */
  #addRest(item: OutputItem, kind: TextKind, part: number, whole: string): void {
    this.#addText(item, kind, part, whole.slice(item.readChars.get(`${kind} ${part}`) ?? 0))
  }

  #addText(item: OutputItem, kind: TextKind, part: number, text: string): void {
    if (text === '') return
    const key = `${kind} ${part}`
    const known = item.readChars.get(key)
    // Parts of a summary are paragraphs.
    const separator = known === undefined && item.readChars.size > 0 && REASONING_KINDS.has(kind) ? '\n\n' : ''
    item.readChars.set(key, (known ?? 0) + text.length)
    this.#write(item, () => this.#writeText(kind, separator + text))
  }

  #writeText(kind: TextKind, text: string): void {
    if (REASONING_KINDS.has(kind)) this.#writer.addReasoning(text)
    else if (kind === 'text') this.#writer.addText(text, [])
    else if (kind === 'refusal') this.#writer.addRefusal(text)
    else this.#writer.addArguments(text)
  }

  #startCall(item: OutputItem, { call_id: callId, name }: JsonObject): void {
    if (item.isStarted) return
    item.isStarted = true
    this.#write(item, () => {
      const given = asString(callId)
      const id = given === '' || this.#callIds.has(given) ? this.#writer.createCallId() : given
      this.#callIds.add(id)
      this.#writer.startCall(id, asString(name))
    })
  }

  #write(item: OutputItem, write: () => void): void {
    item.pendingWrites.push(write)
    if (item === this.#items[this.#current]) this.#advance()
  }

  /** Writes the pending parts of the current item and, while items are complete, of those after it. */
  #advance(): void {
    for (let item = this.#items[this.#current]; item; item = this.#items[++this.#current]) {
      for (const write of item.pendingWrites.splice(0)) {
        this.#beginResponse()
        write()
      }
      if (!item.isComplete) return
    }
  }

  #beginResponse(): void {
    if (!this.#hasBegun) this.#writer.begin(this.#metadata)
    this.#hasBegun = true
  }
}

type TextKind = 'summary' | 'reasoning' | 'text' | 'refusal' | 'arguments'

const REASONING_KINDS: ReadonlySet<TextKind> = new Set<TextKind>(['summary', 'reasoning'])

const DELTA_KINDS: ReadonlyMap<string, TextKind> = new Map<string, TextKind>([
  ['response.reasoning_summary_text.delta', 'summary'],
  ['response.reasoning_text.delta', 'reasoning'],
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.function_call_arguments.delta', 'arguments'],
])

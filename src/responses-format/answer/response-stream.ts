/** A chat answer as the events of a Responses stream, and as the whole response that ends it. */

import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { type AnswerHead, asChunk, createAnswerReader } from '../../openai-format/read-answer.ts'
import { packProof } from '../../openai-format/thought.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'
import { createEventWriter } from './event-writer.ts'
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
import type { ResponseContext } from './response-context.ts'
import { type ResponseParts, writeResponse } from './write-response.ts'

export interface ResponseStream {
  /** The events of one chat chunk, parsed. Throws a ProxyError, for `fail`. */
  push(chunk: JsonObject): TypedEvent[]
  /** Those that end the answer. */
  finish(): TypedEvent[]
  /** Those that end it where it broke off. */
  fail(error: Pick<ProxyError, 'code' | 'message'>): TypedEvent[]
}

/** A plain chat answer as a `response`. Throws a ProxyError where it holds an error. */
export function fromChatAnswer(answer: JsonObject, context: ResponseContext): JsonObject {
  const stream = createResponseStream(context)
  stream.push(asChunk(answer))
  return stream.finish().at(-1)?.response as JsonObject
}

export function createResponseStream(context: ResponseContext): ResponseStream {
  const writer = createEventWriter()
  const items: OpenItem[] = []
  let head: AnswerHead = { id: '', model: String(context.body.model ?? ''), createdSeconds: nowSeconds() }
  /** The items' ids are made of it. */
  let base = hashId(context.requestId)

  const reader = createAnswerReader({
    begin(begun) {
      head = { ...begun, model: begun.model === '' ? head.model : begun.model }
      if (begun.id !== '') base = hashId(begun.id)
      writer.write('response.created', { response: write({ status: 'in_progress' }) })
      writer.write('response.in_progress', { response: write({ status: 'in_progress' }) })
    },
    think: text => reasoning().think(text),
    say: (text, logprobs) => message().say(text, context.keepsLogprobs ? logprobs : []),
    refuse: text => message().refuse(text),
    startCall(id, name) {
      const callId = id === '' ? `call_${base}${items.length}` : id
      // A tool that was not offered is told as it was called.
      const tool = context.tools.get(name) ?? { name, namespace: '', isCustom: false }
      add(openCall(place(tool.isCustom ? 'ctc' : 'fc'), { ...tool, callId }))
    },
    continueCall: fragment => (items.at(-1) as CallItem).continue(fragment),
    annotate: annotations => (items.findLast(({ kind }) => kind === 'message') as MessageItem)?.annotate(annotations),
  })

  function place(prefix: string) {
    // A first thought is proved when it ends.
    if (items.length > 0 || prefix !== 'rs') closeLast('completed')
    return { writer, index: items.length, id: `${prefix}_${base}${items.length.toString(16).padStart(4, '0')}` }
  }

  function add<Item extends OpenItem>(item: Item): Item {
    items.push(item)
    return item
  }

  function reasoning(): ReasoningItem {
    const last = items.at(-1)
    return last?.kind === 'reasoning' ? (last as ReasoningItem) : add(openReasoning(place('rs')))
  }

  function message(): MessageItem {
    const last = items.at(-1)
    return last?.kind === 'message' ? (last as MessageItem) : add(openMessage(place('msg')))
  }

  function closeLast(status: ItemStatus): void {
    prove()
    items.at(-1)?.close(status)
  }

  /** Thoughts come first: whatever proves them has come by when they end. */
  function prove(): void {
    const packed = context.keepsProof ? packProof(reader.proof) : null
    if (packed === null) return
    if (items.length === 0) reasoningWithoutText().prove(packed)
    else if (items.length === 1 && items[0]?.kind === 'reasoning') (items[0] as ReasoningItem).prove(packed)
  }

  function reasoningWithoutText(): ReasoningItem {
    return add(openReasoning({ writer, index: 0, id: `rs_${base}0000` }))
  }

  function write(parts: Pick<ResponseParts, 'status'> & Partial<ResponseParts>): JsonObject {
    const { createdSeconds, model } = head
    return writeResponse({ id: `resp_${base}`, createdSeconds, model, output: [], usage: null, ...parts }, context.body)
  }

  function finish(): TypedEvent[] {
    const incompleteReason = readIncomplete(reader.finishReason)
    const hasSpoken = items.some(({ kind }) => kind !== 'reasoning')
    // An empty answer is one all the same.
    if (!hasSpoken && incompleteReason === undefined) message().say('', [])
    closeLast(incompleteReason ? 'incomplete' : 'completed')
    const status = incompleteReason ? 'incomplete' : 'completed'
    const output = items.map(({ item }) => item)
    const ended = { status, output, usage: reader.usage, ...(incompleteReason ? { incompleteReason } : {}) } as const
    writer.write(`response.${status}`, { response: write(ended) })
    return writer.take()
  }

  return {
    push(chunk) {
      reader.push(chunk)
      return writer.take()
    },
    finish,
    fail({ code, message: told }) {
      const error = { code: code === 'rate_limit_exceeded' ? code : 'server_error', message: told }
      const output = items.map(({ item }) => item)
      writer.write('error', { code, message: told, param: null })
      writer.write('response.failed', { response: write({ status: 'failed', output, error, usage: reader.usage }) })
      return writer.take()
    },
  }
}

function readIncomplete(finishReason: string | null): ResponseParts['incompleteReason'] {
  if (finishReason === 'length') return 'max_output_tokens'
  return finishReason === 'content_filter' ? 'content_filter' : undefined
}

function hashId(id: string): string {
  return Bun.SHA256.hash(id, 'hex').slice(0, 44)
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

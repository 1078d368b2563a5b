/** A chat answer as the events of a Messages stream, and as the whole message they come to. */

import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { type AnswerHead, asChunk, createAnswerReader } from '../../openai-format/read-answer.ts'
import { packProof } from '../../openai-format/thought.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'
import { createMessageAssembler } from '../assemble-message.ts'
import { writeError } from '../write-error.ts'
import { createMessageWriter } from './open-message.ts'
import { OPENING_USAGE, writeUsage } from './write-usage.ts'

export interface MessageContext {
  /** As it was asked for: told where the provider does not say what answered. */
  model: string
  /** The estimate, to be told before the provider has counted. */
  inputTokens: number
  requestId: string
}

export interface MessageStream {
  /** The events of one chat chunk, parsed. Throws a ProxyError, for `fail`. */
  push(chunk: JsonObject): TypedEvent[]
  /** Those that end the answer. */
  finish(): TypedEvent[]
  /** The one that ends it where it broke off. */
  fail(error: Pick<ProxyError, 'status' | 'message'>): TypedEvent[]
}

/** A plain chat answer as a message. Throws a ProxyError where it holds an error. */
export function fromChatAnswer(answer: JsonObject, context: MessageContext): JsonObject {
  const stream = createMessageStream(context)
  const assembler = createMessageAssembler()
  for (const event of [...stream.push(asChunk(answer)), ...stream.finish()]) assembler.add(event)
  return assembler.finish().body as JsonObject
}

export function createMessageStream(context: MessageContext): MessageStream {
  const writer = createMessageWriter()
  let open: 'thinking' | 'text' | 'tool_use' | null = null
  let refusal: string | null = null
  let hasCalls = false
  let isProved = false
  let count = 0
  let base = ''

  const reader = createAnswerReader({
    begin(head) {
      base = hashId(head.id === '' ? context.requestId : head.id)
      writer.write('message_start', { message: writeOpening(head) })
    },
    think(text) {
      if (open !== 'thinking') openBlock('thinking', { type: 'thinking', thinking: '', signature: '' })
      writer.delta({ type: 'thinking_delta', thinking: text })
    },
    say: text => say(text),
    refuse(text) {
      refusal = (refusal ?? '') + text
      say(text)
    },
    startCall(id, name) {
      hasCalls = true
      const callId = id === '' ? `toolu_${base.slice(0, 20)}${count}` : id
      openBlock('tool_use', { type: 'tool_use', id: callId, name, input: {}, caller: { type: 'direct' } })
    },
    continueCall: fragment => writer.delta({ type: 'input_json_delta', partial_json: fragment }),
    // Citations point into documents of the request; sources of another kind have no counterpart.
    annotate: () => {},
  })

  function say(text: string): void {
    if (open !== 'text') openBlock('text', { type: 'text', text: '', citations: null })
    writer.delta({ type: 'text_delta', text })
  }

  function openBlock(kind: NonNullable<typeof open>, block: JsonObject): void {
    // A first thought is proved when it ends.
    if (open !== null || kind !== 'thinking') prove()
    open = kind
    count++
    writer.open(block)
  }

  /** Thoughts come first: whatever proves them has come by when they end. */
  function prove(): void {
    const packed = isProved ? null : packProof(reader.proof)
    const isEarly = open === null || (open === 'thinking' && count === 1)
    if (packed !== null && open === 'thinking' && isEarly) writer.delta({ type: 'signature_delta', signature: packed })
    else if (packed !== null && isEarly) {
      writer.open({ type: 'redacted_thinking', data: packed })
      count++
    }
    isProved = true
  }

  function writeOpening({ model }: AnswerHead): JsonObject {
    return {
      id: `msg_${base}`,
      type: 'message',
      role: 'assistant',
      model: model === '' ? context.model : model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: { ...writeUsage({ prompt_tokens: context.inputTokens }), ...OPENING_USAGE },
    }
  }

  return {
    push(chunk) {
      reader.push(chunk)
      return writer.take()
    },
    finish() {
      prove()
      writer.close()
      const stop_reason = chooseStopReason(reader.finishReason, hasCalls, refusal !== null)
      const stop_details = stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: refusal } : null
      writer.write('message_delta', {
        delta: { stop_reason, stop_sequence: null, stop_details, container: null },
        usage: writeUsage(reader.usage),
      })
      writer.write('message_stop')
      return writer.take()
    },
    fail(error) {
      const { type, error: told } = writeError(error, context.requestId)
      writer.write(type, { error: told })
      return writer.take()
    },
  }
}

/** Clients act on calls where the reason says so: some providers say `stop` beside them. */
function chooseStopReason(finishReason: string | null, hasCalls: boolean, isRefused: boolean): string {
  if (finishReason === 'length') return 'max_tokens'
  if (finishReason === 'content_filter') return 'refusal'
  if (hasCalls) return 'tool_use'
  return isRefused ? 'refusal' : 'end_turn'
}

function hashId(id: string): string {
  return Bun.SHA256.hash(id, 'hex').slice(0, 24)
}

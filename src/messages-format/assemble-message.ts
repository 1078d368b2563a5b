/** Assembles the events of a Messages stream into the message that the provider would have sent without streaming. */

import { isJsonObject, type JsonObject, parseJsonObject, readField } from '../json/json-object.ts'
import type { Completeness, IncompleteReason } from '../openai-format/completeness.ts'
import { readInput } from './answer/read-input.ts'
import { judgeMessage } from './judge-message.ts'

export interface AssembledMessage {
  /** The part that arrived; null when the first event did not. */
  body: JsonObject | null
  /** As the provider reported it, in Anthropic's form; null when it did not. */
  usage: unknown
  /** True when `message_stop` arrived. */
  sawEnd: boolean
  /** The error object in the stream, if there was one. */
  error: unknown
  completeness: Completeness
}

export interface MessageAssembler {
  /** Takes one event's data. Never throws. */
  push(data: string): void
  /** Takes a parsed event. The event becomes part of the message: do not change it afterwards. */
  add(event: JsonObject): void
  /** Call once. */
  finish(): AssembledMessage
}

export function createMessageAssembler(): MessageAssembler {
  const blocks: JsonObject[] = []
  /** The JSON text of each tool block's input so far. */
  const inputs = new Map<JsonObject, string>()
  let body: JsonObject | null = null
  let error: unknown = null
  let flaw: IncompleteReason | null = null
  let sawEnd = false

  function begin({ message }: JsonObject): void {
    if (!isJsonObject(message)) return
    body = { ...message, content: blocks }
    if (isJsonObject(message.usage)) body.usage = { ...message.usage }
    // In the first event the message has no blocks yet. Should a provider send some there, they count.
    if (Array.isArray(message.content)) blocks.push(...message.content.filter(isJsonObject))
  }

  function continueBlock(block: JsonObject | undefined, { delta }: JsonObject): void {
    if (!block || !isJsonObject(delta) || !addDelta(block, delta, inputs)) flaw ??= 'inconsistent_chunks'
  }

  function add(event: JsonObject): void {
    const { type, index } = event
    const block = blocks[Number(index)]
    if (type === 'message_start') begin(event)
    else if (type === 'content_block_start' && isJsonObject(event.content_block))
      blocks.push({ ...event.content_block })
    else if (type === 'content_block_delta') continueBlock(block, event)
    else if (type === 'content_block_stop' && block && inputs.has(block)) {
      block.input = readInput(inputs.get(block) ?? '')
    } else if (type === 'message_delta' && body) endMessage(body, event)
    else if (type === 'message_stop') sawEnd = true
    else if (type === 'error') {
      error ??= readField(event, 'error') ?? event
      flaw = 'error_in_stream'
    }
  }

  return {
    add,
    push(data) {
      if (sawEnd || data === '') return
      const event = parseJsonObject(data)
      if (event) add(event)
      else flaw ??= 'malformed_chunk'
    },
    finish() {
      const completeness = flaw ?? (sawEnd ? judgeMessage(body) : 'missing_done')
      return { body, usage: body?.usage ?? null, sawEnd, error, completeness }
    },
  }
}

/** The last event's counts cover the whole message. A null count does not replace an earlier one. */
function endMessage(body: JsonObject, { delta, usage, ...rest }: JsonObject): void {
  const reported = isJsonObject(usage) ? Object.entries(usage).filter(([, count]) => count !== null) : []
  body.usage = { ...(isJsonObject(body.usage) ? body.usage : {}), ...Object.fromEntries(reported) }
  const { type: _type, ...beside } = rest
  for (const fields of [beside, isJsonObject(delta) ? delta : {}]) Object.assign(body, fields)
}

/** Returns false for an unknown kind of delta: the block cannot be assembled then. */
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

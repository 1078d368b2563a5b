/** Assembles the events of a Messages stream into the plain message, and says whether a message is complete: only then may it be stored. */

import type { StreamAssembler } from '../answer-format.ts'
import type { Completeness, IncompleteReason } from '../chat/completeness.ts'
import { isJsonObject, type JsonObject, numberOf, objectsOf, parseJsonObject, textOf } from '../json/canonical.ts'
import { parseExactlyIfValid } from '../json/exact-json.ts'
import { lengthOfText, TextMeter } from '../text-meter.ts'
import { mergeUsage } from '../usage/merge-usage.ts'
import { isTextAsWanted, type Wanted } from '../wanted.ts'

const ANYTHING: Wanted = { clientSetOutputLimit: true }

export interface MessageAssembler extends StreamAssembler {
  /** Takes a parsed event. The event becomes part of the message: do not change it afterwards. */
  add(event: JsonObject): void
}

export function createMessageAssembler(wanted: Wanted = ANYTHING): MessageAssembler {
  const blocks: JsonObject[] = []
  const open = new Set<JsonObject>()
  /** The JSON text of each tool block's input so far. */
  const inputs = new Map<JsonObject, string>()
  let body: JsonObject | null = null
  let flaw: IncompleteReason | null = null
  let sawEnd = false
  const meter = new TextMeter(() => lengthOfText([blocks, ...inputs.values()]))

  /** What is left is one block with a sample of all text. */
  function giveUp(): void {
    if (meter.isGivenUp) return
    meter.isGivenUp = true
    flaw ??= 'too_large'
    const texts = blocks.map(block => inputs.get(block) ?? textOf(block.text ?? block.thinking))
    inputs.clear()
    open.clear()
    blocks.splice(0, blocks.length, { type: 'text', text: meter.sample(texts.join('\n')) })
  }

  function begin({ message }: JsonObject): void {
    if (!isJsonObject(message)) return
    body = { ...message, content: blocks }
    if (isJsonObject(message.usage)) body.usage = { ...message.usage }
    // In the first event the message has no blocks yet. Should a provider send some there, they count.
    blocks.push(...objectsOf(message.content))
  }

  function continueBlock(block: JsonObject | undefined, { delta }: JsonObject): void {
    if (!block || !isJsonObject(delta) || !addDelta(block, delta, inputs)) flaw ??= 'inconsistent_chunks'
  }

  function add(event: JsonObject): void {
    const { type, index } = event
    if (meter.isGivenUp && textOf(type).startsWith('content_block_')) return void loseDelta(event, meter)
    const block = blocks[numberOf(index)]
    if (type === 'message_start') begin(event)
    else if (type === 'content_block_start' && isJsonObject(event.content_block)) {
      const begun = { ...event.content_block }
      blocks.push(begun)
      open.add(begun)
    } else if (type === 'content_block_delta') continueBlock(block, event)
    else if (type === 'content_block_stop' && block) {
      open.delete(block)
      if (inputs.has(block)) block.input = readInput(inputs.get(block) ?? '')
    } else if (type === 'message_delta' && body) endMessage(body, event)
    else if (type === 'message_stop') sawEnd = true
    else if (type === 'error') flaw = 'error_in_stream'
  }

  return {
    add,
    meter,
    giveUp,
    push(data) {
      if (sawEnd || data === '') return
      meter.note(data)
      const event = parseJsonObject(data)
      if (event) add(event)
      else flaw ??= 'malformed_chunk'
    },
    finish() {
      // What had arrived of a call that was cut.
      for (const block of open) if (inputs.has(block)) block.input = readInput(inputs.get(block) ?? '')
      const completeness = flaw ?? (sawEnd && open.size === 0 ? completenessOfMessage(body, wanted) : 'missing_done')
      return { body: body ?? {}, usage: body?.usage ?? null, completeness }
    },
  }
}

function loseDelta({ delta }: JsonObject, meter: TextMeter): void {
  if (isJsonObject(delta)) meter.lose([delta.text, delta.thinking, delta.partial_json])
}

/** The last event's counts cover the whole message. */
function endMessage(body: JsonObject, { delta, usage, ...rest }: JsonObject): void {
  body.usage = mergeUsage(body.usage, usage, { isCumulative: true }) ?? {}
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

/** `max_tokens` is regular: the Messages API requires a limit, so that the client has set it. */
const REGULAR_ENDS = new Set(['end_turn', 'stop_sequence', 'tool_use', 'max_tokens'])

export function completenessOfMessage(body: unknown, wanted: Wanted = ANYTHING): Completeness {
  if (!isJsonObject(body)) return 'not_an_answer'
  if (body.type === 'error') return 'error_in_body'
  if (body.type !== 'message' || !Array.isArray(body.content)) return 'not_an_answer'
  const { stop_reason: reason } = body
  // The client has to continue a paused turn.
  if (typeof reason !== 'string' || reason === 'pause_turn') return 'unfinished_choice'
  if (reason === 'refusal') return 'content_filter'
  if (reason === 'model_context_window_exceeded') return 'provider_length_limit'
  if (!REGULAR_ENDS.has(reason)) return 'unknown_finish_reason'
  const blocks = body.content.filter(isJsonObject)
  return blocks.some(hasContent) ? completenessOfBlocks(blocks, wanted) : 'nothing_said'
}

function completenessOfBlocks(blocks: readonly JsonObject[], wanted: Wanted): Completeness {
  const calls = blocks.filter(callsTool)
  if (!calls.every(({ input }) => isJsonObject(input) && !Object.hasOwn(input, INVALID_JSON))) return 'cut_arguments'
  if (wanted.mustCall && calls.length === 0) return 'no_call'
  // What the client is to run comes in place of the text; what ran at the provider does not.
  if (calls.some(({ type }) => type === 'tool_use')) return 'whole'
  const text = blocks.map(block => (block.type === 'text' ? block.text : '')).join('')
  return isTextAsWanted(text, wanted) ? 'whole' : 'no_json'
}

const callsTool = ({ type }: JsonObject) => textOf(type).endsWith('tool_use')

function hasContent({ type, text }: JsonObject): boolean {
  return type === 'text' ? text !== '' : type !== 'thinking' && type !== 'redacted_thinking'
}

/** Whether the message calls a tool. Such messages are never served from a semantic match. */
export function hasToolUses({ content }: JsonObject): boolean {
  return objectsOf(content).some(callsTool)
}

/** Text that is not a JSON object, for example cut off, is kept under a name that no tool expects, so that it stays visible. */
const INVALID_JSON = 'INVALID_JSON'

export function readInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  const input = parseExactlyIfValid(text)
  return isJsonObject(input) ? input : { [INVALID_JSON]: text }
}

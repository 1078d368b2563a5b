/** Reads Messages as Anthropic's SDK does. */
import { parseJson, readEvents } from './events.ts'
import { canonicalArguments, emptyOutcome, type Outcome } from './outcome.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
type Json = any

const ENDS: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tools',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filter',
}

export function readMessagesPlain(body: Json): Outcome {
  const outcome = emptyOutcome()
  if (body?.type === 'error') return { ...outcome, end: 'error' }
  if (!Array.isArray(body?.content)) outcome.problems.push('content is no list')
  for (const block of body?.content ?? []) addBlock(outcome, block)
  const ids = (body?.content ?? []).filter((block: Json) => block.type === 'tool_use').map((block: Json) => block.id)
  if (new Set(ids).size < ids.length) outcome.problems.push('ids of calls repeat')
  outcome.end = body?.stop_reason == null ? 'none' : (ENDS[body.stop_reason] ?? `unknown: ${body.stop_reason}`)
  return outcome
}

export function readMessagesStream(text: string): Outcome {
  const problems: string[] = []
  let message: Json = null
  let isStopped = false
  let isFailed = false
  const open = new Map<number, string>()
  const read: Record<string, (event: Json) => void> = {
    ping() {},
    error() {
      isFailed = true
    },
    message_start(event) {
      message = structuredClone(event.message)
    },
    content_block_start(event) {
      if (event.index !== message.content.length) problems.push(`block ${event.index} comes too early`)
      message.content.push(structuredClone(event.content_block))
      open.set(event.index, '')
    },
    content_block_delta(event) {
      if (!open.has(event.index)) problems.push(`block ${event.index} is not open`)
      else addDelta(message.content[event.index], event, open)
    },
    content_block_stop(event) {
      const block = message.content[event.index]
      const input = open.get(event.index)
      if (input) block.input = parseJson(input)
      if (block?.input === undefined && block?.type === 'tool_use') problems.push('input is no JSON')
      open.delete(event.index)
    },
    message_delta(event) {
      message.stop_reason = event.delta.stop_reason
    },
    message_stop() {
      isStopped = true
    },
  }
  for (const { name, data } of readEvents(text)) {
    const event: Json = parseJson(data)
    if ((isStopped || isFailed) && name !== 'ping') problems.push(`${name} follows the end`)
    if (event?.type !== name) problems.push(`the event ${name} has another type`)
    else if (message === null && !['message_start', 'error', 'ping'].includes(event.type))
      problems.push(`${name} comes first`)
    else read[event.type]?.(event)
  }
  const outcome = message === null ? emptyOutcome() : readMessagesPlain(message)
  if (isFailed) return { ...outcome, end: 'error', problems }
  if (open.size > 0) problems.push('a block has no end')
  return { ...outcome, end: isStopped ? outcome.end : 'none', problems: [...problems, ...outcome.problems] }
}

function addDelta(block: Json, { index, delta }: Json, open: Map<number, string>): void {
  if (delta.type === 'text_delta') block.text += delta.text
  if (delta.type === 'thinking_delta') block.thinking += delta.thinking
  if (delta.type === 'signature_delta') block.signature = (block.signature ?? '') + delta.signature
  if (delta.type === 'input_json_delta') open.set(index, open.get(index) + delta.partial_json)
}

function addBlock(outcome: Outcome, block: Json): void {
  if (block.type === 'text') outcome.text += block.text
  if (block.type === 'thinking') outcome.reasoning += block.thinking
  if (block.type === 'tool_use') outcome.calls.push([block.name, canonicalArguments(block.input)])
}

/** Writes a message as the events of a stream. */
import type { ContentBlock, Message } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from './scenario.ts'

export interface EventStyle {
  /** Characters in each delta; 12 by default. */
  pieceChars?: number
  /** A ping before each event except the first. */
  pings?: boolean
}

const PING = writeEvent({ type: 'ping' })

/** Returns the text of each event, including its `event` line. */
export function writeEvents(message: Message, { pieceChars = 12, pings = false }: EventStyle = {}): string[] {
  const { content, stop_reason, stop_sequence, stop_details, container, usage } = message
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    stop_details: null,
    usage: { ...usage, output_tokens: 1, output_tokens_details: null },
  }
  const counted = {
    input_tokens,
    output_tokens,
    cache_creation_input_tokens,
    cache_read_input_tokens,
    output_tokens_details: usage.output_tokens_details,
    server_tool_use: null,
  }
  const events = [
    { type: 'message_start', message: begun },
    ...content.flatMap((block, index) => writeBlock(block, index, pieceChars)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details, container }, usage: counted },
    { type: 'message_stop' },
  ].map(writeEvent)
  return pings ? events.flatMap((event, at) => (at === 0 ? [event] : [PING, event])) : events
}

/** Also writes events that are not part of a message. */
export function writeEvent(event: { type: string } & JsonObject): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function writeBlock(block: ContentBlock, index: number, pieceChars: number): { type: string }[] {
  const { begun, deltas } = splitBlock(block, pieceChars)
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ] as { type: string }[]
}

function splitBlock(block: ContentBlock, pieceChars: number): { begun: ContentBlock; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text':
      return {
        begun: { ...block, text: '' },
        deltas: [
          ...cut(block.text, pieceChars).map(text => ({ type: 'text_delta', text })),
          ...(block.citations ?? []).map(citation => ({ type: 'citations_delta', citation })),
        ],
      }
    case 'thinking':
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          ...cut(block.thinking, pieceChars).map(thinking => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      }
    case 'tool_use':
      return { begun: { ...block, input: {} }, deltas: writeInput(block.input, pieceChars) }
    default:
      return { begun: block, deltas: [] }
  }
}

/** Anthropic begins with an empty fragment. An empty input has no other fragment. */
function writeInput(input: unknown, pieceChars: number): JsonObject[] {
  const text = JSON.stringify(input)
  return ['', ...(text === '{}' ? [] : cut(text, pieceChars))].map(piece => ({
    type: 'input_json_delta',
    partial_json: piece,
  }))
}

function cut(text: string, pieceChars: number): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${pieceChars}}`, 'gu')) ?? []
}

/** Translates Anthropic's plain response as a stream in which each block arrives at once. */
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { ChoicesAssembler } from '../../../formats/chat/choices-assembler.ts'
import { CHUNKS_FIELD } from '../../../formats/chat/part-reader.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import type { AnthropicResponseContext } from './response-context.ts'
import { type AnthropicEvent, StreamTranslator } from './stream-translator.ts'
import { readThinkingBlock } from './thinking-blocks.ts'

/**
 * Returns a `chat.completion`. Blocks of Anthropic's server tools are omitted, because the text contains their results. With `keepsOrder`, the
 * completion also contains its chunks if they have an order of blocks that a chat message cannot represent.
 */
export function translateResponse(message: Message, context: AnthropicResponseContext, keepsOrder = false): JsonObject {
  const assembler = new ChoicesAssembler(() => {})
  const chunks = toChunks(message, context)
  for (const { choices } of chunks) assembler.merge(choices)
  return {
    ...chunks.at(-1),
    object: 'chat.completion',
    choices: assembler.finish().choices,
    ...(keepsOrder && hasLaterThinking(message) && { [CHUNKS_FIELD]: toChunks(message, context) }),
  }
}

function toChunks(message: Message, context: AnthropicResponseContext): JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, container, usage } = message
  const delta = { stop_reason, stop_sequence, stop_details, container }
  const events: AnthropicEvent[] = [
    { type: 'message_start', message },
    ...content.flatMap((content_block, index): AnthropicEvent[] => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta, usage },
    { type: 'message_stop' },
  ]
  const translator = new StreamTranslator(context)
  return events.flatMap(event => translator.translate(event))
}

/** Returns whether a thinking block follows another kind of block. In a chat message, all thinking comes first. */
function hasLaterThinking({ content }: Message): boolean {
  const isThinking = content.map(block => readThinkingBlock(block, 0) !== null)
  return isThinking.indexOf(false) >= 0 && isThinking.lastIndexOf(true) > isThinking.indexOf(false)
}

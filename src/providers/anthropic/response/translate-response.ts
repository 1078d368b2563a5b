/** Translates Anthropic's plain response: as a stream in which each block comes at once. */
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { ChoicesAssembler } from '../../../formats/chat/choices-assembler.ts'
import { CHUNKS_FIELD } from '../../../formats/chat/part-reader.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import type { AnthropicResponseContext } from './response-context.ts'
import { type AnthropicEvent, StreamTranslator } from './stream-translator.ts'
import { readThinkingBlock } from './thinking-blocks.ts'

/**
 * Returns a `chat.completion`. Blocks of Anthropic's server tools are left out: the text contains their results. `keepsOrder`: with its
 * chunks, where these have an order of the blocks that a chat message loses.
 */
export function translateResponse(message: Message, context: AnthropicResponseContext, keepsOrder = false): JsonObject {
  const growing = new ChoicesAssembler(() => {})
  const chunks = toChunks(message, context)
  for (const { choices } of chunks) growing.merge(choices)
  return {
    ...chunks.at(-1),
    object: 'chat.completion',
    choices: growing.finish().choices,
    ...(keepsOrder && thinksAgain(message) && { [CHUNKS_FIELD]: toChunks(message, context) }),
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

/** Whether a thought follows something else than a thought: a chat message has all thoughts first. */
function thinksAgain({ content }: Message): boolean {
  const isThought = content.map(block => readThinkingBlock(block, 0) !== null)
  return isThought.indexOf(false) >= 0 && isThought.lastIndexOf(true) > isThought.indexOf(false)
}

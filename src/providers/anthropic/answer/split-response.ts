/** A plain response as the chunks of a stream: these keep the order of its blocks, which a chat message loses. */
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { splitMessage } from '../../../formats/messages/split-message.ts'
import type { AnswerContext } from './answer-context.ts'
import { StreamTranslator } from './stream-translator.ts'
import { keepThought } from './thinking-blocks.ts'

/** Whether a thought follows something else than a thought: a chat message has all thoughts first. */
export function thinksAgain({ content }: Message): boolean {
  const isThought = content.map(block => keepThought(block, 0) !== null)
  return isThought.indexOf(false) >= 0 && isThought.lastIndexOf(true) > isThought.indexOf(false)
}

export function splitResponse(message: Message, context: AnswerContext): JsonObject[] {
  const translator = new StreamTranslator(context)
  const events = splitMessage(message as unknown as JsonObject)
  const payloads = events.flatMap(event => translator.push(JSON.stringify(event)))
  return payloads.flatMap(data => (data === '[DONE]' ? [] : [JSON.parse(data) as JsonObject]))
}

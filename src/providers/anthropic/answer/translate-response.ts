/** Anthropic's plain answer as OpenAI's. */
import type { ContentBlock, Message, ToolUseBlock } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../json/json-object.ts'
import type { AnswerContext } from './answer-context.ts'
import { writeEnvelope } from './answer-envelope.ts'
import { describeRefusal, translateStopReason } from './finish-reason.ts'
import { createTextJoiner } from './join-texts.ts'
import { keepThought } from './thinking-blocks.ts'
import { translateUsage } from './translate-usage.ts'
import { unfence } from './unfence.ts'

/** A `chat.completion`. Blocks of tools that Anthropic runs itself, which no request of ours asks for, are left out. */
export function translateResponse(message: Message, context: AnswerContext): JsonObject {
  return {
    ...writeEnvelope(message, 'chat.completion', context),
    choices: [
      {
        index: 0,
        message: writeMessage(message, context),
        logprobs: null,
        finish_reason: translateStopReason(message.stop_reason, context),
      },
    ],
    usage: translateUsage(message.usage),
  }
}

function writeMessage({ content, stop_reason, stop_details }: Message, context: AnswerContext): JsonObject {
  const { said, thought } = joinTexts(content)
  const kept = content.flatMap((block, index) => keepThought(block, index) ?? [])
  const text = context.isJsonObject ? unfence(said) : said
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: describeRefusal(stop_reason, stop_details),
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(kept.length === 0 ? {} : { thinking_blocks: kept }),
    ...writeCalls(
      content.filter(block => block.type === 'tool_use'),
      context,
    ),
  }
}

function joinTexts(content: readonly ContentBlock[]): { said: string; thought: string } {
  const text = createTextJoiner()
  const thinking = createTextJoiner()
  let said = ''
  let thought = ''
  for (const block of content) {
    // Text is cut into blocks where a citation begins; a thought is whole by itself.
    if (block.type === 'text') said += text.add(block.text)
    else text.part()
    thinking.part()
    if (block.type === 'thinking') thought += thinking.add(block.thinking)
  }
  return { said, thought }
}

function writeCalls(blocks: readonly ToolUseBlock[], { usesLegacyFunctions }: AnswerContext): JsonObject {
  const [first] = blocks
  if (!first) return {}
  if (usesLegacyFunctions) return { function_call: writeFunction(first) }
  return { tool_calls: blocks.map(block => ({ id: block.id, type: 'function', function: writeFunction(block) })) }
}

function writeFunction({ name, input }: ToolUseBlock): JsonObject {
  return { name, arguments: JSON.stringify(input) }
}

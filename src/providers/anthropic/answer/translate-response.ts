/** Translates Anthropic's plain response. */
import type { ContentBlock, Message, ToolUseBlock } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { translateUsage } from '../../../formats/messages/message-usage.ts'
import { unwrapInput } from '../request/fit-tools.ts'
import type { AnswerContext } from './answer-context.ts'
import { writeEnvelope } from './answer-envelope.ts'
import { describeRefusal, translateStopReason } from './finish-reason.ts'
import { createTextJoiner } from './join-texts.ts'
import { createTextStopper } from './stop-text.ts'
import { keepThought } from './thinking-blocks.ts'
import { createUnfencer } from './unfence.ts'

/** Returns a `chat.completion`. Blocks of Anthropic's server tools are left out: the text contains their results. */
export function translateResponse(message: Message, context: AnswerContext): JsonObject {
  const read = readBlocks(message.content, context)
  const finishReason = read.isStopped ? 'stop' : translateStopReason(message.stop_reason, context)
  return {
    ...writeEnvelope(message, 'chat.completion', context),
    choices: [{ index: 0, message: writeMessage(message, read, context), logprobs: null, finish_reason: finishReason }],
    usage: translateUsage(message.usage),
  }
}

interface ReadBlocks {
  text: string
  thought: string
  /** The blocks that belong to the response. */
  blocks: readonly ContentBlock[]
  /** Whether a stop sequence handled here ended it. */
  isStopped: boolean
}

function writeMessage(
  { stop_reason, stop_details }: Message,
  { text, thought, blocks }: ReadBlocks,
  context: AnswerContext,
): JsonObject {
  const kept = blocks.flatMap((block, index) => keepThought(block, index) ?? [])
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: describeRefusal(stop_reason, stop_details),
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(kept.length === 0 ? {} : { thinking_blocks: kept }),
    ...writeCalls(
      blocks.filter(block => block.type === 'tool_use'),
      context,
    ),
  }
}

function readBlocks(content: readonly ContentBlock[], { isJsonObject, ownStops }: AnswerContext): ReadBlocks {
  const texts = createTextJoiner()
  const thinking = createTextJoiner()
  const unfencer = isJsonObject ? createUnfencer() : null
  const stopper = createTextStopper(ownStops)
  let text = ''
  let thought = ''
  for (const [index, block] of content.entries()) {
    // Anthropic splits text into blocks where a citation begins; each thinking block stands alone.
    if (block.type === 'text') {
      const added = texts.add(block.text)
      text += stopper.push(unfencer ? unfencer.push(added) : added)
    } else texts.part()
    if (stopper.isStopped) return { text, thought, blocks: content.slice(0, index + 1), isStopped: true }
    thinking.part()
    if (block.type === 'thinking') thought += thinking.add(block.thinking)
  }
  text += stopper.push(unfencer?.end() ?? '') + stopper.end()
  return { text, thought, blocks: content, isStopped: stopper.isStopped }
}

function writeCalls(blocks: readonly ToolUseBlock[], context: AnswerContext): JsonObject {
  const [first] = blocks
  if (!first) return {}
  if (context.usesLegacyFunctions) return { function_call: writeFunction(first, context) }
  return {
    tool_calls: blocks.map(block => ({ id: block.id, type: 'function', function: writeFunction(block, context) })),
  }
}

function writeFunction({ name, input }: ToolUseBlock, { clientTools }: AnswerContext): JsonObject {
  const tool = clientTools?.get(name)
  return { name: tool?.name ?? name, arguments: JSON.stringify(unwrapInput(tool, input)) }
}

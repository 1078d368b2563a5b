/** Anthropic's stream of events as OpenAI's stream of chunks. */
import type { ContentBlock, RawContentBlockDelta, RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../../json/json-object.ts'
import { broken } from '../../upstream-failure.ts'
import type { AnswerContext } from './answer-context.ts'
import { type AnswerEnvelope, writeEnvelope } from './answer-envelope.ts'
import { type CallWriter, createCallWriter } from './call-writer.ts'
import { describeRefusal, translateStopReason } from './finish-reason.ts'
import { createTextJoiner } from './join-texts.ts'
import { createTextStopper } from './stop-text.ts'
import { type KeptThought, keepThought } from './thinking-blocks.ts'
import { translateError } from './translate-error.ts'
import { mergeUsage, type ReportedUsage, translateUsage } from './translate-usage.ts'
import { createUnfencer } from './unfence.ts'

export interface StreamTranslator {
  /**
   * One event's data to the payloads of the chunks it comes to: none for pings and for what is not known. The last
   * are the usage chunk and `[DONE]`. Throws a ProxyError for an error event, and for data that is no event.
   */
  push(data: string): string[]
  /** Whether `[DONE]` was among the payloads. */
  readonly isDone: boolean
}

type Event = RawMessageStreamEvent | { type: 'error' } | { type: 'ping' }

export function createStreamTranslator(context: AnswerContext): StreamTranslator {
  const text = createTextJoiner()
  const thinking = createTextJoiner()
  const unfencer = context.isJsonObject ? createUnfencer() : null
  const stopper = createTextStopper(context.ownStops)
  const calls: CallWriter = createCallWriter(context)
  /** Thoughts, by their blocks' numbers, while they grow. */
  const thoughts = new Map<number, KeptThought>()
  let envelope: AnswerEnvelope | null = null
  let usage: ReportedUsage = {}
  let isDone = false

  function writeChunk(delta: JsonObject, finishReason: string | null = null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason }
    return JSON.stringify({ ...envelope, choices: [choice] })
  }

  function say(piece: string): string[] {
    const added = text.add(piece)
    const passed = stopper.push(unfencer ? unfencer.push(added) : added)
    return passed === '' ? [] : [writeChunk({ content: passed })]
  }

  function think(piece: string): string[] {
    const passed = thinking.add(piece)
    return passed === '' ? [] : [writeChunk({ reasoning_content: passed })]
  }

  function startBlock(index: number, block: ContentBlock): string[] {
    if (block.type !== 'text') text.part()
    thinking.part()
    const thought = keepThought(block, index)
    if (thought) thoughts.set(index, thought)
    if (block.type === 'text') return say(block.text)
    if (block.type === 'thinking') return think(block.thinking)
    return block.type === 'tool_use' ? calls.start(index, block).map(delta => writeChunk(delta)) : []
  }

  function continueBlock(index: number, delta: RawContentBlockDelta): string[] {
    const thought = thoughts.get(index)
    switch (delta.type) {
      case 'text_delta':
        return say(delta.text)
      case 'thinking_delta':
        if (thought?.type === 'thinking') thought.thinking += delta.thinking
        return think(delta.thinking)
      case 'signature_delta':
        if (thought?.type === 'thinking') thought.signature = delta.signature
        return []
      case 'input_json_delta':
        return calls.continue(index, delta.partial_json).map(part => writeChunk(part))
      // Citations have no counterpart.
      default:
        return []
    }
  }

  function endMessage({ delta, usage: counted }: RawMessageStreamEvent & { type: 'message_delta' }): string[] {
    usage = mergeUsage(usage, counted)
    const told = translateStopReason(delta.stop_reason, context)
    if (told === null) return []
    const refusal = describeRefusal(delta.stop_reason, delta.stop_details)
    const held = stopper.push(unfencer?.end() ?? '') + stopper.end()
    const reason = stopper.isStopped ? 'stop' : told
    return [
      ...(held === '' ? [] : [writeChunk({ content: held })]),
      ...(refusal === null ? [] : [writeChunk({ refusal })]),
      // Once and whole: clients that do not know the field keep the last they see.
      ...(thoughts.size === 0 ? [] : [writeChunk({ thinking_blocks: [...thoughts.values()] })]),
      writeChunk({}, reason),
    ]
  }

  function translate(event: Event): string[] {
    // What Anthropic went on to say is counted, and is no part of the answer.
    if (stopper.isStopped && event.type.startsWith('content_block')) return []
    switch (event.type) {
      case 'message_start':
        envelope = writeEnvelope(event.message, 'chat.completion.chunk', context)
        usage = mergeUsage(usage, event.message.usage)
        return [writeChunk({ role: 'assistant', content: null, refusal: null })]
      case 'content_block_start':
        return startBlock(event.index, event.content_block)
      case 'content_block_delta':
        return continueBlock(event.index, event.delta)
      case 'content_block_stop':
        return calls.stop(event.index).map(delta => writeChunk(delta))
      case 'message_delta':
        return endMessage(event)
      case 'message_stop':
        isDone = true
        return [JSON.stringify({ ...envelope, choices: [], usage: translateUsage(usage) }), '[DONE]']
      case 'error':
        throw translateError(event, null)
      // Pings, and what Anthropic may add.
      default:
        return []
    }
  }

  return {
    get isDone() {
      return isDone
    },
    push(data) {
      if (isDone) return []
      return translate(readEvent(data))
    },
  }
}

function readEvent(data: string): Event {
  const event = parseJsonObject(data)
  if (event === undefined || !isWellFormed(event)) throw broken('anthropic', 'sent an event that cannot be read')
  return event as unknown as Event
}

/** The parts that are read without another look. */
function isWellFormed(event: JsonObject): boolean {
  if (event.type === 'message_start') return isJsonObject(event.message)
  if (event.type === 'content_block_start') return isJsonObject(event.content_block)
  if (event.type === 'content_block_delta' || event.type === 'message_delta') return isJsonObject(event.delta)
  return true
}

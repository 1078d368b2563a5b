/** Translates Anthropic's stream of events into OpenAI's stream of chunks. */
import type {
  ContentBlock,
  Message,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  RefusalStopDetails,
  StopReason,
  Usage,
} from '@anthropic-ai/sdk/resources/messages'
import { toProxyError } from '../../../formats/errors/client-error.ts'
import { isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import { type AnthropicUsage, toChatUsage } from '../../../formats/messages/message-usage.ts'
import { parseStreamFrame, type StreamFrame } from '../../../formats/sse/chunk-reader.ts'
import { createStopSequenceFilter } from '../../../formats/stop-sequence-filter.ts'
import { mergeUsage } from '../../../formats/usage/merge-usage.ts'
import { emptyResponseError } from '../../upstream-failure.ts'
import { createCodeFenceRemover } from './remove-code-fence.ts'
import { type AnthropicResponseContext, providerNameOf } from './response-context.ts'
import { type IndexedThinkingBlock, readThinkingBlock, TextJoiner } from './text-blocks.ts'
import { ToolCallTranslator } from './tool-call-translator.ts'

export type AnthropicEvent = RawMessageStreamEvent | { type: 'error' } | { type: 'ping' }

export class StreamTranslator {
  readonly #context: AnthropicResponseContext
  readonly #text = new TextJoiner()
  readonly #thinking = new TextJoiner()
  readonly #fenceRemover: ReturnType<typeof createCodeFenceRemover> | null
  readonly #stopFilter: ReturnType<typeof createStopSequenceFilter>
  readonly #calls: ToolCallTranslator
  /** The unfinished thinking blocks by block index. */
  readonly #thoughts = new Map<number, IndexedThinkingBlock>()
  /** The fields that all chunks share. */
  #envelope: JsonObject | null = null
  #usage: AnthropicUsage = {}
  #hasStopped = false
  #isDone = false

  constructor(context: AnthropicResponseContext) {
    this.#context = context
    this.#fenceRemover = context.isJsonObject ? createCodeFenceRemover() : null
    this.#stopFilter = createStopSequenceFilter(context.localStopSequences)
    this.#calls = new ToolCallTranslator(context)
  }

  /** Whether `[DONE]` was returned. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Returns the payloads for a stream that breaks off: the usage that was reported until then. */
  flushOnError(): string[] {
    return this.#isDone ? [] : this.#writeUsage().map(chunk => JSON.stringify(chunk))
  }

  /**
   * Returns the payloads of the chunks for one event's data, with `[DONE]` after the last. Throws a ProxyError for an error event and for
   * invalid data.
   */
  push(data: string, event?: string | null): string[] {
    if (this.#isDone) return []
    const frame = parseStreamFrame(data, event)
    if (frame.kind === 'empty' || frame.kind === 'done') return []
    if (frame.kind === 'error') throw toProxyError({ error: frame.error })
    const payloads = this.translate(readEvent(frame, this.#context)).map(chunk => JSON.stringify(chunk))
    return this.#isDone ? [...payloads, '[DONE]'] : payloads
  }

  /**
   * Call it when the stream has ended. Returns the last payloads if a stop reason was received, even without the last event; else throws a
   * ProxyError.
   */
  end(): string[] {
    if (!this.#hasStopped)
      throw emptyResponseError(providerNameOf(this.#context), 'ended its answer before it was whole')
    const usage = this.flushOnError()
    this.#isDone = true
    return [...usage, '[DONE]']
  }

  /**
   * Returns the event's chunks; none for pings and unknown events. The last chunk contains the usage if it was reported. Throws a ProxyError
   * for an error event.
   */
  translate(event: AnthropicEvent): JsonObject[] {
    // Output after the stop sequence is billed, but is not part of the response.
    if (this.#stopFilter.stoppedBy !== null && event.type.startsWith('content_block')) return []
    switch (event.type) {
      case 'message_start':
        this.#envelope = createChunkEnvelope(event.message, this.#context.createdSeconds)
        this.#addUsage(event.message.usage)
        return [this.#writeChunk({ role: 'assistant', content: null, refusal: null })]
      case 'content_block_start':
        return this.#startBlock(event.index, event.content_block)
      case 'content_block_delta':
        return this.#continueBlock(event.index, event.delta)
      case 'content_block_stop':
        return this.#writeChunks([...this.#stopThought(event.index), ...this.#calls.stop(event.index)])
      case 'message_delta':
        return this.#endMessage(event)
      case 'message_stop':
        this.#isDone = true
        return this.#writeUsage()
      case 'error':
        throw toProxyError(event)
      // Pings, and events that Anthropic may add later.
      default:
        return []
    }
  }

  #startBlock(index: number, block: ContentBlock): JsonObject[] {
    // Anthropic splits text into blocks where a citation begins, so only other blocks separate text. Each thinking block is separate.
    if (block.type !== 'text') this.#text.startBlock()
    this.#thinking.startBlock()
    const thinkingBlock = readThinkingBlock(block, index)
    if (thinkingBlock) this.#thoughts.set(index, thinkingBlock)
    if (block.type === 'text') return this.#writeText(block.text)
    if (block.type === 'thinking') return this.#writeThinking(block.thinking)
    return block.type === 'tool_use' ? this.#writeChunks(this.#calls.start(index, block)) : []
  }

  #continueBlock(index: number, delta: RawContentBlockDelta): JsonObject[] {
    const thinkingBlock = this.#thoughts.get(index)
    switch (delta.type) {
      case 'text_delta':
        return this.#writeText(delta.text)
      case 'thinking_delta':
        if (thinkingBlock?.type === 'thinking') thinkingBlock.thinking += delta.thinking
        return this.#writeThinking(delta.thinking)
      case 'signature_delta':
        if (thinkingBlock?.type === 'thinking') thinkingBlock.signature = delta.signature
        return []
      case 'input_json_delta':
        return this.#writeChunks(this.#calls.continue(index, delta.partial_json))
      // Citations have no counterpart.
      default:
        return []
    }
  }

  /** Returns each thinking block as soon as it is complete: later parts of the response may need its signature before them. */
  #stopThought(index: number): JsonObject[] {
    const thinkingBlock = this.#thoughts.get(index)
    this.#thoughts.delete(index)
    return thinkingBlock ? [{ thinking_blocks: [thinkingBlock] }] : []
  }

  #writeText(piece: string): JsonObject[] {
    const added = this.#text.add(piece)
    const text = this.#stopFilter.push(this.#fenceRemover ? this.#fenceRemover.push(added) : added)
    return text === '' ? [] : [this.#writeChunk({ content: text })]
  }

  #writeThinking(piece: string): JsonObject[] {
    const text = this.#thinking.add(piece)
    return text === '' ? [] : [this.#writeChunk({ reasoning_content: text })]
  }

  #endMessage({ delta, usage }: RawMessageStreamEvent & { type: 'message_delta' }): JsonObject[] {
    this.#addUsage(usage)
    const finishReason = translateStopReason(delta.stop_reason, this.#context)
    if (finishReason === null) return []
    this.#hasStopped = true
    const refusal = describeRefusal(delta.stop_reason, delta.stop_details)
    const held = this.#stopFilter.push(this.#fenceRemover?.end() ?? '') + this.#stopFilter.end()
    const last: JsonObject[] = []
    if (held !== '') last.push({ content: held })
    if (refusal !== null) last.push({ refusal })
    for (const index of [...this.#thoughts.keys()]) last.push(...this.#stopThought(index))
    return [
      ...this.#writeChunks(last),
      this.#writeChunk({}, this.#stopFilter.stoppedBy !== null ? 'stop' : finishReason),
    ]
  }

  #addUsage(usage: unknown): void {
    const merged = mergeUsage(this.#usage, usage, { isCumulative: true })
    if (isJsonObject(merged)) this.#usage = merged
  }

  #writeUsage(): JsonObject[] {
    const usage = toChatUsage(this.#usage)
    return usage ? [{ ...this.#envelope, choices: [], usage }] : []
  }

  #writeChunks(deltas: readonly JsonObject[]): JsonObject[] {
    return deltas.map(delta => this.#writeChunk(delta))
  }

  #writeChunk(delta: JsonObject, finishReason: string | null = null): JsonObject {
    return { ...this.#envelope, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] }
  }
}

function readEvent(frame: StreamFrame, context: AnthropicResponseContext): AnthropicEvent {
  if (frame.kind !== 'chunk' || !isWellFormed(frame.chunk))
    throw emptyResponseError(providerNameOf(context), 'sent an event that cannot be read')
  return frame.chunk as unknown as AnthropicEvent
}

/** Checks the fields that are then read without a check. */
function isWellFormed(event: JsonObject): boolean {
  if (event.type === 'message_start') return isJsonObject(event.message)
  if (event.type === 'content_block_start') return isJsonObject(event.content_block)
  if (event.type === 'content_block_delta' || event.type === 'message_delta') return isJsonObject(event.delta)
  return true
}

/** OpenAI has no finish reason for a paused turn. A refusal comes from a classifier, which OpenAI calls a content filter; it is never cached. */
const FINISH_REASONS: Record<StopReason, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** Returns an unknown reason unchanged; null when the response has not ended. */
function translateStopReason(reason: string | null, context: AnthropicResponseContext): string | null {
  if (reason === null) return null
  if (reason === 'tool_use' && context.usesLegacyFunctions) return 'function_call'
  return Object.hasOwn(FINISH_REASONS, reason) ? FINISH_REASONS[reason as StopReason] : reason
}

/** Returns OpenAI's `refusal`; null when the response is not a refusal. */
function describeRefusal(reason: string | null, details: RefusalStopDetails | null | undefined): string | null {
  return reason === 'refusal' ? (details?.explanation ?? 'Anthropic’s safeguards ended this answer.') : null
}

const TIERS: Record<NonNullable<Usage['service_tier']>, string> = {
  standard: 'default',
  priority: 'priority',
  batch: 'default',
}

function createChunkEnvelope({ id, model, usage }: Message, createdSeconds: number): JsonObject {
  const tier = usage?.service_tier
  return {
    id,
    object: 'chat.completion.chunk',
    created: createdSeconds,
    model,
    ...(tier ? { service_tier: TIERS[tier] ?? tier } : {}),
  }
}

/** Why an answer ended, in OpenAI's words. */
import type { RefusalStopDetails, StopReason } from '@anthropic-ai/sdk/resources/messages'
import type { AnswerContext } from './answer-context.ts'

/**
 * A paused turn is not at its end, and has no other word. A refusal is a classifier's, which OpenAI calls a filter's:
 * it is never stored.
 */
const FINISH_REASONS: Record<StopReason, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** A reason that is not known yet is told as it is; null where the answer has not ended. */
export function translateStopReason(reason: string | null, context: AnswerContext): string | null {
  if (reason === null) return null
  if (reason === 'tool_use' && context.usesLegacyFunctions) return 'function_call'
  return Object.hasOwn(FINISH_REASONS, reason) ? FINISH_REASONS[reason as StopReason] : reason
}

/** OpenAI's `refusal`; null where the answer is none. */
export function describeRefusal(reason: string | null, details: RefusalStopDetails | null | undefined): string | null {
  return reason === 'refusal' ? (details?.explanation ?? 'Anthropic’s safeguards ended this answer.') : null
}

/** Translates stop reasons into OpenAI's finish reasons. */
import type { RefusalStopDetails, StopReason } from '@anthropic-ai/sdk/resources/messages'
import type { AnthropicResponseContext } from './response-context.ts'

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
export function translateStopReason(reason: string | null, context: AnthropicResponseContext): string | null {
  if (reason === null) return null
  if (reason === 'tool_use' && context.usesLegacyFunctions) return 'function_call'
  return Object.hasOwn(FINISH_REASONS, reason) ? FINISH_REASONS[reason as StopReason] : reason
}

/** Returns OpenAI's `refusal`; null when the response is not a refusal. */
export function describeRefusal(reason: string | null, details: RefusalStopDetails | null | undefined): string | null {
  return reason === 'refusal' ? (details?.explanation ?? 'Anthropic’s safeguards ended this answer.') : null
}

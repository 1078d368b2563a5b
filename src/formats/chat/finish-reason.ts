/** Classifies the `finish_reason` of a chat response. Compatible servers forward the native reasons of their models, in any letter case. */

/** `failed`: the provider aborted the response, or ended it for an unknown reason. */
export type FinishKind = 'regular' | 'length' | 'filtered' | 'failed'

const REGULAR: ReadonlySet<string> = new Set(
  'stop stop_sequence eos eos_token end end_turn done complete completed tool_calls tool_call tool_use function_call'.split(
    ' ',
  ),
)
const LENGTH = /length|max_\w{0,20}tokens|token_limit|context_window/
const FILTERED = /filter|safety|sensitive|refus|recitation|prohibited|block|spii|moderat|guardrail/

/** Classifies a reason. An unknown reason is a failure, because the response may be incomplete. */
export function classifyFinishReason(finishReason: string): FinishKind {
  const reason = finishReason.toLowerCase()
  if (REGULAR.has(reason)) return 'regular'
  if (isContentFilter(reason)) return 'filtered'
  return LENGTH.test(reason) ? 'length' : 'failed'
}

/** Whether the reason, which may be a native one, names a content filter. */
export function isContentFilter(reason: string): boolean {
  return FILTERED.test(reason.toLowerCase())
}

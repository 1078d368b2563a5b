/** What a chat response's `finish_reason` means. Compatible servers pass the native reasons of their models through, in any letter case. */

/** `failed`: the provider gave up, or ended the response for a reason that is not documented as an end of any kind. */
export type FinishKind = 'regular' | 'length' | 'filtered' | 'failed'

const REGULAR: ReadonlySet<string> = new Set(
  'stop stop_sequence eos eos_token end end_turn done complete completed tool_calls tool_call tool_use function_call'.split(
    ' ',
  ),
)
const LENGTH = /length|max_\w{0,20}tokens|token_limit|context_window/
const FILTERED = /filter|safety|sensitive|refus|recitation|prohibited|block|spii|moderat|guardrail/

/** An unknown reason is a failure: nobody can tell whether the response is complete. */
export function classifyFinishReason(finishReason: string): FinishKind {
  const reason = finishReason.toLowerCase()
  if (REGULAR.has(reason)) return 'regular'
  if (isContentFilter(reason)) return 'filtered'
  return LENGTH.test(reason) ? 'length' : 'failed'
}

/** Whether the reason, a native one for example, names a content filter. */
export function isContentFilter(reason: string): boolean {
  return FILTERED.test(reason.toLowerCase())
}

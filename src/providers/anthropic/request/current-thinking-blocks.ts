/** Selects the thinking blocks of a conversation that are sent back to the model. */
import type { ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { Conversation, Turn } from './translate-messages.ts'

/**
 * Keeps only the thinking blocks of the current exchange of calls and results, which Anthropic requires. Blocks of finished turns are valid
 * only in their exact conversation, and a cached response may come from another one. The same applies to blocks before a system message,
 * because system messages are moved to the front.
 */
export function keepCurrentThinkingBlocks({ turns, lastSystemAt }: Conversation, isThinking: boolean): Turn[] {
  const exchangeStart = findExchangeStart(turns)
  const keepsBlocks = isThinking && (turns[exchangeStart]?.startsAt ?? 0) > lastSystemAt
  return turns.map((turn, index) =>
    keepsBlocks && index >= exchangeStart
      ? turn
      : { ...turn, content: turn.content.filter(block => !isThinkingBlock(block)) },
  )
}

/** Returns whether the assistant turn before the last results begins with a thinking block, or the last turn has no results. */
export function startsWithThinkingBlock(turns: readonly Turn[]): boolean {
  const last = turns.at(-1)
  const before = turns.at(-2)
  if (!last || !before || !hasResults(last)) return true
  const [first] = before.content
  return first !== undefined && isThinkingBlock(first)
}

/** Returns the index of the turn where the current exchange of calls and results begins; the number of turns when there is none. */
function findExchangeStart(turns: readonly Turn[]): number {
  const lastQuestion = turns.findLastIndex(turn => turn.role === 'user' && !hasResults(turn))
  return lastQuestion + 1
}

function hasResults({ content }: Turn): boolean {
  return content[0]?.type === 'tool_result'
}

function isThinkingBlock({ type }: ContentBlockParam): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

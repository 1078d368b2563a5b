/** Decides which thinking blocks of a conversation are sent back to the model. */
import type { ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { Conversation, Turn } from './translate-messages.ts'

/**
 * Keeps only the thinking blocks that led to the calls now being answered, which Anthropic demands. Those of finished turns are bound to
 * their exact conversation, and a cached response may come from another one. The same holds for blocks before a system message, which
 * moves to the front.
 */
export function keepCurrentThinkingBlocks({ turns, lastSystemAt }: Conversation, isThinking: boolean): Turn[] {
  const loop = findLoop(turns)
  const keeps = isThinking && (turns[loop]?.startsAt ?? 0) > lastSystemAt
  return turns.map((turn, index) =>
    keeps && index >= loop ? turn : { ...turn, content: turn.content.filter(block => !isThought(block)) },
  )
}

/** Whether the model's side of the current exchange of calls and results begins with a thinking block, or there is no exchange. */
export function startsWithThinkingBlock(turns: readonly Turn[]): boolean {
  const last = turns.at(-1)
  const before = turns.at(-2)
  if (!last || !before || !hasResults(last)) return true
  const [first] = before.content
  return first !== undefined && isThought(first)
}

/** Where the current exchange of calls and results begins; the end when there is none. */
function findLoop(turns: readonly Turn[]): number {
  const lastQuestion = turns.findLastIndex(turn => turn.role === 'user' && !hasResults(turn))
  return lastQuestion + 1
}

function hasResults({ content }: Turn): boolean {
  return content[0]?.type === 'tool_result'
}

function isThought({ type }: ContentBlockParam): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Anthropic's rules for a conversation beyond its schema. One rule is stricter: turns must alternate. */
import type { JsonObject } from './scenario.ts'

interface Turn {
  role: string
  content: JsonObject[]
}

/** Returns the error in Anthropic's words; null for a valid conversation. */
export function findTurnError(request: JsonObject): string | null {
  const turns = request.messages as Turn[]
  if (turns[0]?.role !== 'user') return 'messages: first message must use the "user" role'
  const ids = new Set<string>()
  for (const [index, turn] of turns.entries()) {
    if (turns[index - 1]?.role === turn.role) return `messages.${index}: roles must alternate`
    const error =
      turn.role === 'user'
        ? findResultError(turn, turns[index - 1], index)
        : findCallError(turn, turns[index + 1], index)
    if (error !== null) return error
    for (const id of idsOf(turn, 'tool_use', 'id')) {
      if (ids.has(id)) return `messages.${index}: \`tool_use\` ids must be unique`
      ids.add(id)
    }
  }
  if (ids.size > 0 && !Array.isArray(request.tools)) {
    return 'Requests which have `tool_use` or `tool_result` blocks in messages must define tools'
  }
  return null
}

/** Tool results must come first in a turn, and must answer calls of the turn before. */
function findResultError({ content }: Turn, before: Turn | undefined, index: number): string | null {
  const kinds = content.map(block => block.type === 'tool_result')
  if (kinds.lastIndexOf(true) >= (kinds.includes(false) ? kinds.indexOf(false) : kinds.length)) {
    return `messages.${index}: \`tool_result\` blocks must stand before all others`
  }
  const called = new Set(before ? idsOf(before, 'tool_use', 'id') : [])
  const stray = idsOf({ role: 'user', content }, 'tool_result', 'tool_use_id').find(id => !called.has(id))
  return stray === undefined
    ? null
    : `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`
}

function findCallError(turn: Turn, after: Turn | undefined, index: number): string | null {
  const answered = new Set(after ? idsOf(after, 'tool_result', 'tool_use_id') : [])
  const open = idsOf(turn, 'tool_use', 'id').find(id => !answered.has(id))
  return open === undefined
    ? null
    : `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}`
}

function idsOf({ content }: Turn, type: string, key: string): string[] {
  return content.filter(block => block.type === type).map(block => String(block[key]))
}

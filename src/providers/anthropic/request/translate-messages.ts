/** Translates a conversation into Anthropic's form: a separate system prompt, alternating turns, and results right after their calls. */
import type { ContentBlockParam, TextBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readObject, readString } from '../../../formats/json/read-fields.ts'
import { composeAssistantTurn, readAssistantMessage } from './assistant-message.ts'
import { addMessageBreakpoint } from './cache-breakpoints.ts'
import { PendingToolCalls } from './pending-tool-calls.ts'
import { translateContent, translateTextContent } from './translate-parts.ts'

export interface Turn {
  role: 'user' | 'assistant'
  content: ContentBlockParam[]
  /** The index of the turn's first message in the request. */
  startsAt: number
}

export interface Conversation {
  system: TextBlockParam[]
  /** The turns alternate, and the first is the user's. */
  turns: Turn[]
  /** The names of the called functions. */
  calledNames: ReadonlySet<string>
  /** The index of the last system message; -1 when there is none. */
  lastSystemAt: number
}

/**
 * The user turn that opens a conversation without one. Anthropic's conversations begin with the user; OpenAI's may begin with the assistant,
 * or contain only instructions.
 */
const OPENING: TextBlockParam = { type: 'text', text: '(The conversation begins.)' }

/** Throws a 400 that names the invalid message. */
export function translateMessages(messages: readonly unknown[]): Conversation {
  const system: TextBlockParam[] = []
  const turns: Turn[] = []
  const calls = new PendingToolCalls()
  let lastSystemAt = -1
  for (const [index, item] of messages.entries()) {
    const param = `messages[${index}]`
    const message = readObject(item, param)
    const role = readRole(message, param)
    if (role === 'system') {
      system.push(...(addMessageBreakpoint(translateTextContent(message, param), message, param) as TextBlockParam[]))
      lastSystemAt = index
    } else {
      const content = role === 'user' ? readUser(message, param, calls) : readAssistant(message, param, calls)
      addTurn(turns, { role, content: addMessageBreakpoint(content, message, param), startsAt: index })
    }
  }
  calls.checkAllResolved()
  if (turns.length + system.length === 0) {
    throw invalidRequestError('messages must contain at least one message with content.', 'messages')
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [OPENING], startsAt: 0 })
  return { system, turns, calledNames: calls.names, lastSystemAt }
}

const ROLES = {
  system: 'system',
  developer: 'system',
  user: 'user',
  tool: 'user',
  function: 'user',
  assistant: 'assistant',
} as const

/** Returns the message's role at Anthropic, where tool results come from the user. */
function readRole(message: JsonObject, param: string): (typeof ROLES)[keyof typeof ROLES] {
  const role = readString(message.role, `${param}.role`)
  if (Object.hasOwn(ROLES, role)) return ROLES[role as keyof typeof ROLES]
  throw invalidRequestError(`${param}.role must be one of: ${Object.keys(ROLES).join(', ')}.`, `${param}.role`)
}

function readUser(message: JsonObject, param: string, calls: PendingToolCalls): ContentBlockParam[] {
  const content = translateContent(message, param)
  if (message.role === 'user') {
    calls.checkAllResolved()
    return content
  }
  const id =
    message.role === 'tool' ? calls.resolve(message.tool_call_id, param) : calls.resolveByName(message.name, param)
  return [{ type: 'tool_result', tool_use_id: id, ...(content.length > 0 ? { content } : {}) }]
}

function readAssistant(message: JsonObject, param: string, calls: PendingToolCalls): ContentBlockParam[] {
  calls.checkAllResolved()
  const read = readAssistantMessage(message, param)
  return composeAssistantTurn(
    read,
    read.calls.map(call => calls.add(call, param)),
  )
}

function addTurn(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1)
  if (last?.role === turn.role) last.content.push(...turn.content)
  else if (turn.content.length > 0) turns.push(turn)
}

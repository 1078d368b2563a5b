/** Rejects chat conversations in which results do not directly follow their calls, as the strictest vendor does. */
import type { RecordedRequest } from './recording.ts'
import type { ErrorScenario, JsonObject } from './scenario.ts'

/** Returns null for a valid order and for other endpoints. */
export function checkToolOrder({ path, body }: RecordedRequest): ErrorScenario | null {
  if (!path.endsWith('/chat/completions')) return null
  const messages = (body as JsonObject | undefined)?.messages
  if (!Array.isArray(messages)) return null
  let waiting: unknown[] = []
  let mayFollow: unknown[] = []
  for (const message of [...messages, { role: 'end' }] as JsonObject[]) {
    if (message?.role === 'tool') {
      if (!mayFollow.includes(message.tool_call_id)) {
        return refuse("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
      }
      waiting = waiting.filter(id => id !== message.tool_call_id)
      continue
    }
    if (waiting.length > 0) {
      return refuse(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${waiting.map(id => (typeof id === 'string' ? id : JSON.stringify(id))).join(', ')}`,
      )
    }
    const calls = message?.role === 'assistant' && Array.isArray(message.tool_calls) ? message.tool_calls : []
    waiting = calls.map(call => (call as JsonObject | null)?.id)
    mayFollow = waiting
  }
  return null
}

function refuse(message: string): ErrorScenario {
  return { kind: 'error', status: 400, message }
}

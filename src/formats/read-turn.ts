/** Reads the turn of a stored response, whatever its format, as chat. */
import { createChatMessageBuilder } from './chat/chat-message-builder.ts'
import { describeTurn, listTurnsWithExtras, type NewTurn } from './chat/tool-turns.ts'
import { asObjects, type JsonObject, parseJsonObject } from './json/canonical.ts'
import { translateMessages } from './messages/messages-to-chat.ts'
import { inputItems } from './responses/resolve-references.ts'
import { translateInput } from './responses/response-request-to-chat.ts'

export interface TurnSource {
  endpoint: string
  request: JsonObject
  /** The response's JSON, which the proxy itself has stored. */
  response: string
}

/** Returns null if the response has no tool calls or no provider extras, or if its extras are too long. */
export function readTurn({ endpoint, request, response }: TurnSource): NewTurn | null {
  const body = parseJsonObject(response)
  if (!body) return null
  if (endpoint === 'chat') {
    const [turn] = listTurnsWithExtras(body)
    return turn ? describeTurn(request.messages, turn) : null
  }
  const messages = translateConversation(endpoint, request, body)
  // The translation adds results that are missing.
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const [turn] = listTurnsWithExtras({ choices: [{ message: messages[last] }] })
  return turn ? describeTurn(messages.slice(0, last), turn) : null
}

/** Returns the conversation with its response as chat messages; none if it cannot be translated. */
function translateConversation(endpoint: string, request: JsonObject, { output, content }: JsonObject): JsonObject[] {
  try {
    if (endpoint === 'responses')
      return translateInput({ input: [...inputItems(request.input), ...asObjects(output)] }, null)
    const messages = [...asObjects(request.messages), { role: 'assistant', content }]
    return translateMessages(
      { messages },
      { supportsCacheControl: false, extrasKeys: null },
      createChatMessageBuilder(),
    )
  } catch {
    return []
  }
}

/** Anthropic's Messages API on top of chat completions. */

import type { JsonObject } from '../../json/json-object.ts'
import type { MessageContext } from '../../messages-format/answer/growing-message.ts'
import { createMessageStream, fromChatAnswer } from '../../messages-format/answer/message-stream.ts'
import { type ChatTarget, toChatRequest } from '../../messages-format/request/to-chat-request.ts'
import { translateError } from '../../messages-format/write-error.ts'
import { estimatePromptTokens } from '../../tokens/count-tokens.ts'
import type { Translated, Translation } from './answer-translation.ts'

/** Throws a 400 that names a field without a counterpart in chat completions. */
export function translateMessages(body: JsonObject, target: ChatTarget): Translated {
  const chatRequest = toChatRequest(body, target)
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`
  const context = { model: String(body.model), inputTokens: estimatePromptTokens(chatRequest, 'chat'), requestId }
  return { chatRequest, context: { endpoint: 'messages', context } }
}

export function translationOfMessages(context: MessageContext): Translation {
  return {
    fromAnswer: answer => fromChatAnswer(answer, context),
    openStream: () => createMessageStream(context),
    fromError: (status, bodyText) => JSON.stringify(translateError(status, bodyText, context.requestId)),
  }
}

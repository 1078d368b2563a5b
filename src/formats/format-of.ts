/** The answers' format of each operation that is cached as a whole. */

import type { AnswerFormat } from './answer-format.ts'
import { chatFormat, completionsFormat } from './chat/chat-format.ts'
import { messagesFormat } from './messages/messages-format.ts'
import { responsesFormat } from './responses/responses-format.ts'

const FORMATS = {
  chat: chatFormat,
  completions: completionsFormat,
  // Used when inputs are not answered one by one: the response is then cached whole, like a completion.
  embeddings: { ...completionsFormat, completenessOf: completenessOfEmbeddings },
  responses: responsesFormat,
  messages: messagesFormat,
} satisfies Record<string, AnswerFormat>

export function formatOf(endpoint: keyof typeof FORMATS): AnswerFormat {
  return FORMATS[endpoint]
}

function completenessOfEmbeddings({ data }: Record<string, unknown>) {
  return Array.isArray(data) && data.length > 0 ? 'whole' : 'not_an_answer'
}

/** Whether it is another API than chat completions, which can be translated to it. */
export function isTranslated(endpoint: string): endpoint is 'responses' | 'messages' {
  return endpoint === 'responses' || endpoint === 'messages'
}

/** The answers' format of each operation that is cached as a whole. */

import type { Endpoint } from '../../providers/upstream.ts'
import type { AnswerFormat } from './answer-format.ts'
import { chatFormat, completionsFormat } from './chat-format.ts'
import { messagesFormat } from './messages-format.ts'
import { responsesFormat } from './responses-format.ts'

const FORMATS: Record<Endpoint, AnswerFormat> = {
  chat: chatFormat,
  completions: completionsFormat,
  // Used when inputs are not answered one by one: the response is then cached whole, like a completion.
  embeddings: { ...completionsFormat, judge: judgeEmbeddings },
  responses: responsesFormat,
  messages: messagesFormat,
}

export function formatOf(endpoint: Endpoint): AnswerFormat {
  return FORMATS[endpoint]
}

function judgeEmbeddings({ data }: Record<string, unknown>) {
  return Array.isArray(data) && data.length > 0 ? 'whole' : 'not_an_answer'
}

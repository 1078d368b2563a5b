/** Translates chat responses as the proxy does, chunk by chunk or whole. */
import type { ProxyError } from '../../../src/errors/errors.ts'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'
import type { MessageContext } from '../../../src/formats/messages/growing-message.ts'
import type { ResponseContext } from '../../../src/formats/responses/write-response.ts'
import { type TranslationContext, translationOf } from '../../../src/formats/translation.ts'

const wanted = { clientSetOutputLimit: true }
const toMessages = (context: MessageContext): TranslationContext => ({ endpoint: 'messages', context, wanted })
const toResponses = (context: ResponseContext): TranslationContext => ({ endpoint: 'responses', context, wanted })

function openStream(translated: TranslationContext) {
  const translation = translationOf(translated).openStream()
  return {
    push: (chunk: JsonObject) => translation.push({ event: null, data: JSON.stringify(chunk) }),
    finish: () => translation.end(),
    fail: (error: ProxyError) => translation.breakOff(error),
  }
}

export const createMessageStream = (context: MessageContext) => openStream(toMessages(context))
export const createResponseStream = (context: ResponseContext) => openStream(toResponses(context))
export const messageFromChat = (answer: JsonObject, context: MessageContext) =>
  translationOf(toMessages(context)).fromAnswer(answer).body
export const responseFromChat = (answer: JsonObject, context: ResponseContext) =>
  translationOf(toResponses(context)).fromAnswer(answer).body

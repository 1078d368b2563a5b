/** Translates chat responses as the proxy does, either chunk by chunk or as a whole. */
import type { ProxyError } from '../../../src/errors/errors.ts'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'
import type { MessageTranslationContext } from '../../../src/formats/messages/messages-translation-writer.ts'
import type { ResponseContext } from '../../../src/formats/responses/write-response.ts'
import type { TypedEvent } from '../../../src/formats/sse/sse.ts'
import { createResponseTranslator, type TranslationContext } from '../../../src/formats/translation.ts'

const expected = { clientSetOutputLimit: true }
const toMessages = (context: MessageTranslationContext): TranslationContext => ({
  endpoint: 'messages',
  source: 'chat',
  context,
  expected,
})
const toResponses = (context: ResponseContext): TranslationContext => ({
  endpoint: 'responses',
  source: 'chat',
  context,
  expected,
})

function openStream(translated: TranslationContext) {
  const translation = createResponseTranslator(translated).createStreamTranslator()
  // Both formats name their events.
  return {
    push: (chunk: JsonObject) => translation.push({ event: null, data: JSON.stringify(chunk) }) as TypedEvent[],
    finish: () => translation.end() as TypedEvent[],
    fail: (error: ProxyError) => translation.fail(error) as TypedEvent[],
  }
}

export const createMessageStream = (context: MessageTranslationContext) => openStream(toMessages(context))
export const createResponseStream = (context: ResponseContext) => openStream(toResponses(context))
export const messageFromChat = (answer: JsonObject, context: MessageTranslationContext) =>
  createResponseTranslator(toMessages(context)).translateResponse(answer).body
export const responseFromChat = (answer: JsonObject, context: ResponseContext) =>
  createResponseTranslator(toResponses(context)).translateResponse(answer).body

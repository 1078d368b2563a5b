/** Translates another operation's requests and responses to and from chat completions. */

import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import type { MessageContext } from '../../messages-format/answer/growing-message.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'
import type { ResponseContext } from '../../responses-format/answer/response-context.ts'

/** One request's context, as plain data that can be sent to a worker. */
export type TranslationContext =
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageContext }

export interface Translated {
  chatRequest: JsonObject
  context: TranslationContext
}

/** Translates one request's response. */
export interface Translation {
  /** A plain chat response. Throws a ProxyError when it contains an error. */
  fromAnswer(answer: JsonObject): JsonObject
  openStream(): StreamTranslation
  /** A provider's error. */
  fromError(status: number, bodyText: string): string
}

export interface StreamTranslation {
  /** Translates one parsed chat chunk into events. Throws a ProxyError. */
  push(chunk: JsonObject): TypedEvent[]
  /** The events that end the response. */
  finish(): TypedEvent[]
  /** The events that end a response that broke off. */
  fail(error: ProxyError): TypedEvent[]
}

/** How another operation's request and answers are told by way of chat completions. */

import type { ProxyError } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import type { MessageContext } from '../../messages-format/answer/growing-message.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'
import type { ResponseContext } from '../../responses-format/answer/response-context.ts'

/** Of one request: plain data, which a worker can have. */
export type TranslationContext =
  | { endpoint: 'responses'; context: ResponseContext }
  | { endpoint: 'messages'; context: MessageContext }

export interface Translated {
  chatRequest: JsonObject
  context: TranslationContext
}

/** Of one request's answer. */
export interface Translation {
  /** A plain chat answer. Throws a ProxyError where it holds an error. */
  fromAnswer(answer: JsonObject): JsonObject
  openStream(): StreamTranslation
  /** A provider's own error. */
  fromError(status: number, bodyText: string): string
}

export interface StreamTranslation {
  /** The events of one chat chunk, parsed. Throws a ProxyError. */
  push(chunk: JsonObject): TypedEvent[]
  /** Those that end the answer. */
  finish(): TypedEvent[]
  /** Those that end it where it broke off. */
  fail(error: ProxyError): TypedEvent[]
}

/** Lets a provider answer operations that it does not have itself, by way of chat completions. */

import { parseExactly } from '../../json/exact-json.ts'
import { hasInexactNumber } from '../../json/inexact-number.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import { countInputTokens } from '../../messages-format/count-tokens.ts'
import type { ChatTarget } from '../../messages-format/request/to-chat-request.ts'
import { countResponseInput } from '../../responses-format/count-tokens.ts'
import { readBody } from '../anthropic/answer/read-body.ts'
import type { Endpoint, Provider, UpstreamAnswer, UpstreamRequest } from '../upstream.ts'
import { broken } from '../upstream-failure.ts'
import type { Translation } from './answer-translation.ts'
import { translateMessages } from './translate-messages.ts'
import { translateResponses } from './translate-responses.ts'
import { translateStream } from './translate-stream.ts'

export interface TranslationOptions {
  /** Operations that the provider has itself, beside chat. */
  has: readonly Endpoint[]
  /** What is known of a model. */
  targetOf(model: string): ChatTarget
}

export function withTranslations(provider: Provider, { has, targetOf }: TranslationOptions): Provider {
  return {
    ...provider,
    async ask(request) {
      const { endpoint } = request
      if (has.includes(endpoint) || (endpoint !== 'responses' && endpoint !== 'messages')) return provider.ask(request)
      const body = readRequestBody(request)
      if (request.countsAlone) return answerCount(endpoint, body)
      const translation =
        endpoint === 'responses'
          ? translateResponses(body)
          : translateMessages(body, targetOf(String(request.body.model)))
      return askByChat(provider, request, translation)
    },
  }
}

/** The estimate: nobody who speaks chat alone counts before it answers. */
function answerCount(endpoint: 'responses' | 'messages', body: JsonObject): UpstreamAnswer {
  const counted = endpoint === 'responses' ? countResponseInput(body) : countInputTokens(body)
  const headers = new Headers({ 'content-type': 'application/json' })
  return { status: 200, headers, body: new Blob([JSON.stringify(counted)]).stream() }
}

/** Parsed anew where numbers would be rounded: a bound in a tool's schema may be one. */
function readRequestBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseExactly(bodyText) as JsonObject) : body
}

async function askByChat(
  provider: Provider,
  request: UpstreamRequest,
  translation: Translation,
): Promise<UpstreamAnswer> {
  const { chatRequest } = translation
  const chat = { ...request, endpoint: 'chat' as const, body: chatRequest, bodyText: JSON.stringify(chatRequest) }
  const { status, headers, body } = await provider.ask(chat)
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
  if (status === 200 && isStream) {
    return { status, headers, body: await translateStream(body, provider.name, translation.openStream()) }
  }
  const text = await readBody(body)
  const told = status === 200 ? translatePlain(text, provider.name, translation) : translation.fromError(status, text)
  headers.set('content-type', 'application/json')
  return { status, headers, body: new Blob([told]).stream() }
}

function translatePlain(text: string, provider: string, translation: Translation): string {
  const answer = parseJsonObject(text)
  if (!answer) throw broken(provider, 'gave an answer that is not a JSON object')
  if (!Array.isArray(answer.choices) && !isJsonObject(answer.error))
    throw broken(provider, 'gave an answer without choices')
  return JSON.stringify(translation.fromAnswer(answer))
}

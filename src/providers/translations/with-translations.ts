/** Lets a provider answer operations that it does not have itself, by way of chat completions. */

import { inPieces } from '../../event-loop/in-pieces.ts'
import type { JsonObject } from '../../json/json-object.ts'
import type { ChatTarget } from '../../messages-format/request/to-chat-request.ts'
import { joinBytes } from '../../openai-format/join-bytes.ts'
import { readBytes } from '../read-bytes.ts'
import type { Endpoint, Provider, UpstreamAnswer, UpstreamRequest } from '../upstream.ts'
import type { TranslationContext } from './answer-translation.ts'
import { translatePlain, translationOf } from './translate-plain.ts'
import { countRequest, translateRequest } from './translate-request.ts'
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
    has,
    async ask(request) {
      const { endpoint } = request
      if (has.includes(endpoint) || (endpoint !== 'responses' && endpoint !== 'messages')) return provider.ask(request)
      if (request.countsAlone) return answerCount(await countRequest(request, endpoint))
      const { chat, context } = await translateRequest(request, endpoint, targetOf(String(request.body.model)))
      return askByChat(provider, chat, context)
    },
  }
}

/** The estimate: nobody who speaks chat alone counts before it answers. */
function answerCount(counted: JsonObject): UpstreamAnswer {
  const headers = new Headers({ 'content-type': 'application/json' })
  return { status: 200, headers, body: new Blob([JSON.stringify(counted)]).stream() }
}

async function askByChat(
  provider: Provider,
  chat: UpstreamRequest,
  translated: TranslationContext,
): Promise<UpstreamAnswer> {
  const { status, headers, body } = await provider.ask(chat)
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
  if (status === 200 && isStream) {
    const stream = translationOf(translated).openStream()
    return { status, headers, body: await translateStream(body, provider.name, stream) }
  }
  // It has its own bounds.
  const answer = await readBytes(body, provider.name, Number.POSITIVE_INFINITY)
  headers.set('content-type', 'application/json')
  if (status === 200)
    return { status, headers, body: inPieces(await translatePlain(answer, provider.name, translated)) }
  const text = new TextDecoder().decode('whole' in answer ? answer.whole : joinBytes(answer.gathered.parts))
  return { status, headers, body: new Blob([translationOf(translated).fromError(status, text)]).stream() }
}

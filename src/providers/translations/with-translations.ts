/** Lets a provider answer operations that it lacks, by translating them to chat completions. */

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
  /** Operations that the provider supports besides chat. */
  has: readonly Endpoint[]
  /** What the catalogue knows about a model. */
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

/** An estimate, because a provider that only speaks chat cannot count before it responds. */
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
  // The body enforces its own limits.
  const answer = await readBytes(body, provider.name, Number.POSITIVE_INFINITY)
  headers.set('content-type', 'application/json')
  if (status === 200)
    return { status, headers, body: inPieces(await translatePlain(answer, provider.name, translated)) }
  const text = new TextDecoder().decode('whole' in answer ? answer.whole : joinBytes(answer.gathered.parts))
  return { status, headers, body: new Blob([translationOf(translated).fromError(status, text)]).stream() }
}

/** Anthropic, or a vendor that speaks its format, under a project's own key: its Messages API behind OpenAI's chat completions. */

import { refuse } from '../../errors/errors.ts'
import { textOf } from '../../formats/json/canonical.ts'
import { Credentials } from '../credentials/credentials.ts'
import { COLLECTION_PATHS } from '../operations.ts'
import { type ProviderOptions, sendAsked, sendPassed } from '../send-passed.ts'
import type { Provider } from '../upstream.ts'
import { translateAnswer } from './answer/translate-answer.ts'
import { CURRENT_VERSION, chooseApiVersion, SAMPLING_VERSION } from './messages-request.ts'
import { translateChat } from './request/translate-chat.ts'

/** The base address is with or without a trailing `/v1`. */
export interface AnthropicOptions extends ProviderOptions {
  /** Most tokens that the model can write; null when unknown. */
  maxOutputTokensOf(model: string): number | null
}

/** `ask` also throws a 400 for request fields without a counterpart at Anthropic. */
export function createAnthropicProvider(options: AnthropicOptions): Provider {
  const { name, kind, pricedAs, title = name, passes, apiKey, projectId, maxOutputTokensOf } = options
  const baseUrl = `${options.baseUrl.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '')}/v1`
  const credentials = new Credentials([apiKey])
  const recipient = (path: string, version: string) => {
    const headers = { 'x-api-key': apiKey, 'anthropic-version': version }
    return { ...options, url: `${baseUrl}${path}`, headers, credentials }
  }

  return {
    name,
    kind,
    pricedAs,
    async ask(request) {
      const { endpoint, headers, body, onlyCounts } = request
      // For a client that speaks Anthropic's format: its version and beta headers stay, and its body is forwarded unchanged.
      if (endpoint === 'messages') {
        const path = `/messages${onlyCounts ? '/count_tokens' : ''}${betaOf(headers)}`
        const version = headers.get('anthropic-version') ?? chooseApiVersion(body)
        return sendAsked(request, request.bodyBytes ?? request.bodyText, recipient(path, version))
      }
      if (endpoint !== 'chat') throw refuse('endpointUnsupported', { vendor: title, endpoint })
      const maxOutputTokens = maxOutputTokensOf(textOf(body.model))
      const limits = { maxOutputTokens, marksCache: request.marksCache ?? false }
      const { body: translated, apiVersion, context } = await translateChat(request, limits, projectId)
      const answer = await sendAsked(request, translated, recipient('/messages', apiVersion))
      return translateAnswer(answer, { ...context, provider: name }, request)
    },
    async pass(request) {
      const { path, headers } = request
      if (passes?.every(known => !path.startsWith(known))) throw refuse('pathUnsupported', { vendor: title, path })
      const version = headers.get('anthropic-version') ?? usualVersion(path)
      return sendPassed(request, recipient(`${path}${betaOf(headers)}`, version))
    },
  }
}

/** The requests of a batch may need either version; the older one has the fields of both, but files in beta alone. */
function usualVersion(path: string): string {
  return path.startsWith(COLLECTION_PATHS.anthropic_files) ? CURRENT_VERSION : SAMPLING_VERSION
}

/** The query that Anthropic's clients send with features in beta. */
function betaOf(headers: Headers): string {
  return headers.has('anthropic-beta') ? '?beta=true' : ''
}

/** Anthropic, or a vendor that speaks its format, under a project's own key: its Messages API behind OpenAI's chat completions. */

import { createError } from '../../errors/errors.ts'
import { asString } from '../../formats/json/canonical.ts'
import { Credentials } from '../credentials/credentials.ts'
import { COLLECTION_PATHS } from '../pass-through-operations.ts'
import { type ProviderOptions, sendModelRequest, sendPassThrough } from '../send-request.ts'
import type { Provider } from '../upstream.ts'
import { CURRENT_API_VERSION, chooseApiVersion, SAMPLING_API_VERSION } from './messages-request.ts'
import { translateChat } from './request/translate-chat.ts'
import { translateUpstreamResponse } from './response/translate-upstream-response.ts'

/** The base address is with or without a trailing `/v1`. */
export interface AnthropicOptions extends ProviderOptions {
  /** Most tokens that the model can write; null when unknown. */
  maxOutputTokensOf(model: string): number | null
}

/** `ask` also throws a 400 for request fields without a counterpart at Anthropic. */
export function createAnthropicProvider(options: AnthropicOptions): Provider {
  const { name, kind, pricedAs, title = name, passThroughPaths, apiKey, projectId, maxOutputTokensOf } = options
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
    async send(request) {
      const { endpoint, headers, body, isCountOnly } = request
      // For a client that speaks Anthropic's format: its version and beta headers stay, and its body is forwarded unchanged.
      if (endpoint === 'messages') {
        const path = `/messages${isCountOnly ? '/count_tokens' : ''}${betaOf(headers)}`
        const version = headers.get('anthropic-version') ?? chooseApiVersion(body)
        return sendModelRequest(request, request.bodyBytes ?? request.bodyText, recipient(path, version))
      }
      if (endpoint !== 'chat') throw createError('endpointUnsupported', { vendor: title, endpoint })
      const maxOutputTokens = maxOutputTokensOf(asString(body.model))
      const limits = { maxOutputTokens, addsCacheBreakpoints: request.addsCacheBreakpoints ?? false }
      const { body: translated, apiVersion, context } = await translateChat(request, limits, projectId)
      const answer = await sendModelRequest(request, translated, recipient('/messages', apiVersion))
      return translateUpstreamResponse(answer, { ...context, provider: name }, request)
    },
    async passThrough(request) {
      const { path, headers } = request
      if (passThroughPaths?.every(known => !path.startsWith(known)))
        throw createError('pathUnsupported', { vendor: title, path })
      const version = headers.get('anthropic-version') ?? usualVersion(path)
      return sendPassThrough(request, recipient(`${path}${betaOf(headers)}`, version))
    },
  }
}

/** The requests of a batch may need either version; the older one has the fields of both, but files in beta alone. */
function usualVersion(path: string): string {
  return path.startsWith(COLLECTION_PATHS.anthropic_files) ? CURRENT_API_VERSION : SAMPLING_API_VERSION
}

/** The query that Anthropic's clients send with features in beta. */
function betaOf(headers: Headers): string {
  return headers.has('anthropic-beta') ? '?beta=true' : ''
}

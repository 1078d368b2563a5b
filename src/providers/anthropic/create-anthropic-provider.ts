/** Creates a provider for Anthropic, or for a vendor with its format. It offers the Messages API, and chat completions translated to it. */

import { createError } from '../../errors/errors.ts'
import { asString } from '../../formats/json/canonical.ts'
import { fetchModelNames, type ProviderOptions, sendModelRequest, sendPassThrough } from '../send-request.ts'
import { STORED_OBJECT_COLLECTIONS } from '../stored-object-collections.ts'
import type { Provider } from '../upstream.ts'
import { createAddressWriter, type VendorConnection } from '../vendor-connection.ts'
import { CURRENT_API_VERSION, chooseApiVersion, SAMPLING_API_VERSION } from './messages-request.ts'
import { translateChat } from './request/translate-chat.ts'
import { translateUpstreamResponse } from './response/translate-upstream-response.ts'

/** `baseUrl` may end in `/v1`. By default the key is in `x-api-key`. */
export interface AnthropicOptions extends ProviderOptions, VendorConnection {
  /** Returns the largest number of tokens that the model can write; null when unknown. */
  maxOutputTokensOf(model: string): number | null
}

/** The provider's `send` also throws a 400 for request fields without a counterpart at Anthropic. */
export function createAnthropicProvider(options: AnthropicOptions): Provider {
  const { name, kind, clientHeaders = [], pricedAs, title = name, passThroughPaths, modelsPath, projectId } = options
  const { maxOutputTokensOf } = options
  const baseUrl = `${options.baseUrl.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '')}/v1`
  const { keyLocation = 'header:x-api-key' } = options
  const writeAddress = createAddressWriter({ ...options, baseUrl, keyLocation })
  const recipient = (path: string, version: string) => {
    const address = writeAddress(path)
    return { ...options, ...address, headers: { 'anthropic-version': version, ...address.headers } }
  }

  return {
    name,
    kind,
    clientHeaders,
    pricedAs,
    async send(request) {
      const { endpoint, headers, body, isCountOnly } = request
      // A request in Anthropic's format keeps its version and beta headers, and its body is forwarded unchanged.
      if (endpoint === 'messages') {
        const path = `/messages${isCountOnly ? '/count_tokens' : ''}${betaQueryOf(headers)}`
        const version = headers.get('anthropic-version') ?? chooseApiVersion(body)
        return sendModelRequest(request, request.bodyBytes ?? request.bodyText, recipient(path, version))
      }
      if (endpoint !== 'chat') throw createError('endpointUnsupported', { vendor: title, endpoint })
      const maxOutputTokens = maxOutputTokensOf(asString(body.model))
      const limits = { maxOutputTokens, addsCacheBreakpoints: request.addsCacheBreakpoints ?? false }
      const { body: translated, apiVersion, context } = await translateChat(request, limits, projectId)
      const response = await sendModelRequest(request, translated, recipient('/messages', apiVersion))
      return translateUpstreamResponse(response, { ...context, provider: name }, request)
    },
    ...(modelsPath && { listModels: () => fetchModelNames(recipient(modelsPath, CURRENT_API_VERSION)) }),
    async passThrough(request) {
      const { path, headers } = request
      if (passThroughPaths?.every(prefix => !path.startsWith(prefix)))
        throw createError('pathUnsupported', { vendor: title, path })
      const version = headers.get('anthropic-version') ?? defaultVersion(path)
      return sendPassThrough(request, recipient(`${path}${betaQueryOf(headers)}`, version))
    },
  }
}

/** Returns the version for a client that names none. Batches use the older version, which accepts the fields of both; it has files only in beta. */
function defaultVersion(path: string): string {
  return path.startsWith(STORED_OBJECT_COLLECTIONS.anthropic_files.path) ? CURRENT_API_VERSION : SAMPLING_API_VERSION
}

/** Returns the query that Anthropic's clients send with beta features. */
function betaQueryOf(headers: Headers): string {
  return headers.has('anthropic-beta') ? '?beta=true' : ''
}

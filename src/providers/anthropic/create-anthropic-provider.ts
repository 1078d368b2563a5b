/** Anthropic, or a vendor that speaks its format, under a project's own key: its Messages API behind OpenAI's chat completions. */

import { refuse } from '../../errors/errors.ts'
import { textOf } from '../../formats/json/canonical.ts'
import { type ConnectionProbe, callUpstream, type UpstreamLimits } from '../call-upstream.ts'
import { Credentials } from '../credentials/credentials.ts'
import { writeRequestHeaders } from '../forwarded-headers.ts'
import { COLLECTION_PATHS } from '../operations.ts'
import { sendPassed } from '../send-passed.ts'
import type { Provider, ProviderKind, UpstreamAnswer, UpstreamRequest } from '../upstream.ts'
import { translateAnswer } from './answer/translate-answer.ts'
import { CURRENT_VERSION, chooseApiVersion, SAMPLING_VERSION } from './messages-request.ts'
import { translateChat } from './request/translate-chat.ts'

export interface AnthropicOptions {
  name: string
  kind: ProviderKind
  pricedAs: string
  /** Its name in messages. */
  title: string
  /** Beginnings of the paths that it has besides; null for any. */
  passes: readonly string[] | null
  /** With or without a trailing `/v1`. */
  baseUrl: string
  apiKey: string
  /** The project whose requests it answers. */
  projectId: number
  limits: UpstreamLimits
  probe: ConnectionProbe
  /** Most tokens that the model can write; null when unknown. */
  maxOutputTokensOf(model: string): number | null
}

/** `ask` also throws a 400 for request fields without a counterpart at Anthropic. */
export function createAnthropicProvider(options: AnthropicOptions): Provider {
  const { name, kind, pricedAs, title, passes, apiKey, projectId, limits: bounds, probe, maxOutputTokensOf } = options
  const baseUrl = `${options.baseUrl.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '')}/v1`
  const url = `${baseUrl}/messages`
  const credentials = new Credentials([apiKey])
  return {
    name,
    kind,
    pricedAs,
    async ask(request) {
      if (request.endpoint === 'messages') return askAsIs(request, url, { ...options, credentials })
      if (request.endpoint !== 'chat')
        throw refuse('endpointUnsupported', { vendor: title, endpoint: request.endpoint })
      const maxOutputTokens = maxOutputTokensOf(textOf(request.body.model))
      const limits = { maxOutputTokens, marksCache: request.marksCache ?? false }
      const { body, apiVersion, context } = await translateChat(request, limits, projectId)
      const answer = await callUpstream({
        provider: name,
        url,
        headers: writeHeaders(request, apiVersion, options),
        credentials,
        body,
        signal: request.signal,
        limits: bounds,
        probe,
      })
      return translateAnswer(answer, { ...context, provider: name }, request.isTranslated)
    },
    async pass(request) {
      const { path, headers } = request
      if (passes?.every(known => !path.startsWith(known))) throw refuse('pathUnsupported', { vendor: title, path })
      const version = headers.get('anthropic-version') ?? usualVersion(path)
      return sendPassed(request, {
        ...options,
        credentials,
        url: `${baseUrl}${path}${betaOf(headers)}`,
        headers: { 'x-api-key': apiKey, 'anthropic-version': version },
      })
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

/** For a client that speaks Anthropic's format: its version and beta headers stay, and its body is forwarded unchanged. */
function askAsIs(
  request: UpstreamRequest,
  url: string,
  options: AnthropicOptions & { credentials: Credentials },
): Promise<UpstreamAnswer> {
  const { name, kind, apiKey, projectId, limits, probe, credentials } = options
  const headers = writeRequestHeaders(request, kind, projectId)
  headers.set('x-api-key', apiKey)
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', chooseApiVersion(request.body))
  const { signal, onlyCounts } = request
  const body = request.bodyBytes ?? request.bodyText
  const asked = `${url}${onlyCounts ? '/count_tokens' : ''}${betaOf(headers)}`
  return callUpstream({ provider: name, url: asked, headers, credentials, body, signal, limits, probe })
}

function writeHeaders(request: UpstreamRequest, apiVersion: string, options: AnthropicOptions): Headers {
  const { kind, apiKey, projectId } = options
  const written = writeRequestHeaders(request, kind, projectId)
  written.set('x-api-key', apiKey)
  written.set('anthropic-version', apiVersion)
  return written
}

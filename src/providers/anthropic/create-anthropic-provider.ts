/** The provider Anthropic under a project's own key: its Messages API behind OpenAI's chat completions. */

import { parseExactly } from '../../json/exact-json.ts'
import { hasInexactNumber } from '../../json/inexact-number.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { callUpstream, type UpstreamLimits } from '../call-upstream.ts'
import type { ConnectionProbe } from '../connection-probe.ts'
import { writeRequestHeaders } from '../request-headers.ts'
import { unsupportedEndpoint } from '../unsupported-endpoint.ts'
import type { Provider, UpstreamAnswer, UpstreamRequest } from '../upstream.ts'
import { readAnswerContext } from './answer/answer-context.ts'
import { translateAnswer } from './answer/translate-answer.ts'
import { chooseApiVersion, type MessagesRequest } from './messages-request.ts'
import { translateRequest } from './request/translate-request.ts'

export interface AnthropicOptions {
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

const NAME = 'anthropic'

/** `ask` also throws a 400 for request fields without a counterpart at Anthropic. */
export function createAnthropicProvider(options: AnthropicOptions): Provider {
  const { apiKey, limits, probe, maxOutputTokensOf } = options
  const url = `${options.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/messages`
  return {
    name: NAME,
    kind: NAME,
    pricedAs: NAME,
    async ask(request) {
      if (request.endpoint === 'messages') return askAsIs(request, url, options)
      if (request.endpoint !== 'chat') throw unsupportedEndpoint('Anthropic', request.endpoint)
      const body = readRequestBody(request)
      const maxOutputTokens = maxOutputTokensOf(String(body.model))
      const translated = translateRequest(body, { maxOutputTokens })
      const answer = await callUpstream({
        provider: NAME,
        url,
        headers: writeHeaders(request, translated, options),
        secret: apiKey,
        body: JSON.stringify(translated),
        signal: request.signal,
        limits,
        probe,
      })
      return translateAnswer(answer, readAnswerContext(body, Date.now()))
    },
  }
}

/** For a client that speaks Anthropic's format: its version and beta headers stay, and its body is forwarded unchanged. */
function askAsIs(request: UpstreamRequest, url: string, options: AnthropicOptions): Promise<UpstreamAnswer> {
  const { apiKey, projectId, limits, probe } = options
  const headers = writeRequestHeaders(request, NAME, projectId)
  headers.set('x-api-key', apiKey)
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', chooseApiVersion(request.body))
  const { bodyText: body, signal, countsAlone } = request
  const query = headers.has('anthropic-beta') ? '?beta=true' : ''
  const asked = `${url}${countsAlone ? '/count_tokens' : ''}${query}`
  return callUpstream({ provider: NAME, url: asked, headers, secret: apiKey, body, signal, limits, probe })
}

/** Parsed again when numbers would be rounded, for example a bound in a tool's schema. */
function readRequestBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseExactly(bodyText) as JsonObject) : body
}

function writeHeaders(
  request: UpstreamRequest,
  translated: MessagesRequest,
  { apiKey, projectId }: AnthropicOptions,
): Headers {
  const written = writeRequestHeaders(request, NAME, projectId)
  written.set('x-api-key', apiKey)
  // The API version that the translation produces, whatever the client asks for.
  written.set('anthropic-version', chooseApiVersion(translated))
  return written
}

/** Returns a provider's errors in the client's format, with the codes on which clients act, and sends a request again without what was rejected. */

import type { Endpoint } from '../../formats/endpoint.ts'
import { type ClientError, normalizeOpenAiContextLengthError } from '../../formats/errors/client-error.ts'
import { isPresent } from '../../formats/json/canonical.ts'
import { normalizeAnthropicContextError } from '../../formats/messages/message-errors.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readErrorText } from '../read-bytes.ts'
import type { UpstreamRequest, UpstreamResponse } from '../upstream.ts'
import { readRejection } from '../vendor-fields.ts'

/** Normalizes an error about a request that was forwarded untranslated. Only errors about the context length change; all others stay unchanged. */
export async function normalizeClientError(
  response: UpstreamResponse,
  endpoint: Endpoint,
  provider: string,
): Promise<UpstreamResponse> {
  if (response.status < 400 || endpoint === 'embeddings') return response
  const [text, unread] = await readErrorText(response, provider, MAX_PLAIN_RESPONSE_BYTES)
  const normalized =
    endpoint === 'messages'
      ? normalizeAnthropicContextError(text, response.status, `req_${crypto.randomUUID().replaceAll('-', '')}`)
      : normalizeOpenAiContextLengthError(text, response.status)
  return normalized === null ? unread : replaceWithError(response, normalized)
}

export function replaceWithError(response: UpstreamResponse, { status, body }: ClientError): UpstreamResponse {
  response.headers.set('content-type', 'application/json')
  return { ...response, clientStatus: status, body: new Blob([JSON.stringify(body)]).stream() }
}

/** Sends a rejected request again in another form if the rejection contains one of these names. Returns the first response if that fails. */
export async function retryIfNamed(
  first: UpstreamResponse,
  names: readonly string[],
  sendAgain: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const text = await readRejection(first)
  if (text !== null && names.some(name => text.includes(name))) {
    const again = await sendAgain().catch(() => null)
    if (again?.status === 200) return again
    await again?.body.cancel().catch(() => {})
  }
  return first
}

/** The words by which a rejection names the reasoning that the proxy requested or sent at Responses. */
const REASONING_NAMES = [
  'ncrypted content',
  'encrypted_content',
  'reasoning.summary',
  'reasoning summar',
  "type 'reasoning'",
]

/**
 * Some providers reject reasoning that they created themselves, or that another account got, and some models and accounts have none to return.
 * When a rejection names it, the request is sent again without it.
 */
export async function retryWithoutReasoning(
  first: UpstreamResponse,
  { body }: UpstreamRequest,
  sendWithoutReasoning: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  return isPresent(body.include) ? retryIfNamed(first, REASONING_NAMES, sendWithoutReasoning) : first
}

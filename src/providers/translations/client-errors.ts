/** Returns a provider's errors in the client's format, with the codes on which clients act. */
import type { ClientError } from '../../formats/errors/client-error.ts'
import { normalizeOpenAiContextLengthError } from '../../formats/errors/client-error.ts'
import { normalizeAnthropicContextError } from '../../formats/messages/message-errors.ts'
import { readAllBytes } from '../read-bytes.ts'
import type { Endpoint, UpstreamResponse } from '../upstream.ts'

/** Normalizes an error about a request that was forwarded untranslated. Only errors about the context length change; all others stay unchanged. */
export async function normalizeClientError(
  response: UpstreamResponse,
  endpoint: Endpoint,
  provider: string,
): Promise<UpstreamResponse> {
  if (response.status < 400 || endpoint === 'embeddings') return response
  const bytes = await readAllBytes(response.body, provider)
  const text = new TextDecoder().decode(bytes)
  const normalized =
    endpoint === 'messages'
      ? normalizeAnthropicContextError(text, response.status, `req_${crypto.randomUUID().replaceAll('-', '')}`)
      : normalizeOpenAiContextLengthError(text, response.status)
  if (normalized === null) return { ...response, body: new Blob([Uint8Array.from(bytes)]).stream() }
  return replaceWithError(response, normalized)
}

export function replaceWithError(response: UpstreamResponse, { status, body }: ClientError): UpstreamResponse {
  response.headers.set('content-type', 'application/json')
  return { ...response, clientStatus: status, body: new Blob([JSON.stringify(body)]).stream() }
}

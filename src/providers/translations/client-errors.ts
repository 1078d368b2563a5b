/** Gives a client the errors of its provider in the format and with the codes that it acts on. */
import type { ClientError } from '../../formats/errors/client-error.ts'
import { normalizeOpenAiContextError } from '../../formats/errors/client-error.ts'
import { normalizeAnthropicContextError } from '../../formats/messages/message-errors.ts'
import { readAllBytes } from '../read-bytes.ts'
import type { Endpoint, UpstreamResponse } from '../upstream.ts'

/** The error of a provider that was sent the client's own request: all but a full context stays byte for byte. */
export async function normalizeClientError(
  answer: UpstreamResponse,
  endpoint: Endpoint,
  provider: string,
): Promise<UpstreamResponse> {
  if (answer.status < 400 || endpoint === 'embeddings') return answer
  const bytes = await readAllBytes(answer.body, provider)
  const text = new TextDecoder().decode(bytes)
  const completed =
    endpoint === 'messages'
      ? normalizeAnthropicContextError(text, answer.status, `req_${crypto.randomUUID().replaceAll('-', '')}`)
      : normalizeOpenAiContextError(text, answer.status)
  if (completed === null) return { ...answer, body: new Blob([Uint8Array.from(bytes)]).stream() }
  return replaceWithError(answer, completed)
}

export function replaceWithError(answer: UpstreamResponse, { status, body }: ClientError): UpstreamResponse {
  answer.headers.set('content-type', 'application/json')
  return { ...answer, clientStatus: status, body: new Blob([JSON.stringify(body)]).stream() }
}

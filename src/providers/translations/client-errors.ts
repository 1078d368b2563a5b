/** Gives a client the errors of its provider in the format and with the codes that it acts on. */
import type { ClientError } from '../../formats/errors/client-error.ts'
import { completeOpenAiError } from '../../formats/errors/client-error.ts'
import { completeMessagesError } from '../../formats/messages/message-errors.ts'
import { readAll } from '../read-bytes.ts'
import type { Endpoint, UpstreamAnswer } from '../upstream.ts'

/** The error of a provider that was sent the client's own request: all but a full context stays byte for byte. */
export async function completeError(
  answer: UpstreamAnswer,
  endpoint: Endpoint,
  provider: string,
): Promise<UpstreamAnswer> {
  if (answer.status < 400 || endpoint === 'embeddings') return answer
  const bytes = await readAll(answer.body, provider)
  const text = new TextDecoder().decode(bytes)
  const completed =
    endpoint === 'messages'
      ? completeMessagesError(text, answer.status, `req_${crypto.randomUUID().replaceAll('-', '')}`)
      : completeOpenAiError(text, answer.status)
  if (completed === null) return { ...answer, body: new Blob([Uint8Array.from(bytes)]).stream() }
  return withError(answer, completed)
}

export function withError(answer: UpstreamAnswer, { status, body }: ClientError): UpstreamAnswer {
  answer.headers.set('content-type', 'application/json')
  return { ...answer, clientStatus: status, body: new Blob([JSON.stringify(body)]).stream() }
}

/** Sends a request that is passed through: as it came, but for the provider's own credential. */
import { type ConnectionProbe, callUpstream, type UpstreamLimits } from './call-upstream.ts'
import type { Credentials } from './credentials/credentials.ts'
import { writeRequestHeaders } from './forwarded-headers.ts'
import type { PassedRequest, ProviderKind, UpstreamAnswer } from './upstream.ts'

export interface Recipient {
  name: string
  kind: ProviderKind
  /** The project whose request it is. */
  projectId: number
  url: string
  /** Headers that replace the client's. */
  headers: Record<string, string>
  credentials: Credentials
  limits: UpstreamLimits
  probe: ConnectionProbe
}

type Sent = Omit<PassedRequest, 'path' | 'leavesTrace' | 'isDownload'> & { isDownload?: boolean }

/** The client's Accept header stays, because the response may be a stream, or no JSON. */
export function sendPassed(
  { method, body, headers: given, isDownload, signal }: Sent,
  { name, kind, projectId, url, headers: own, credentials, limits, probe }: Recipient,
): Promise<UpstreamAnswer> {
  const headers = writeRequestHeaders({ headers: given, stream: false }, kind, projectId)
  for (const [header, value] of Object.entries(own)) headers.set(header, value)
  headers.set('accept', given.get('accept') ?? '*/*')
  if (body) headers.set('content-type', body.contentType)
  else headers.delete('content-type')
  return callUpstream({
    provider: name,
    url,
    method,
    headers,
    credentials,
    body: body?.bytes ?? null,
    signal,
    limits: isDownload ? { ...limits, maxAnswerBytes: Number.POSITIVE_INFINITY } : limits,
    probe,
  })
}

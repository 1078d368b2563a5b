/** Sends requests to a provider with its own credential in place of the client's: those that a model is asked, and those that are passed through. */
import { callUpstream, type UpstreamCall } from './call-upstream.ts'
import { writeRequestHeaders } from './forwarded-headers.ts'
import type { PassedRequest, ProviderKind, UpstreamAnswer, UpstreamRequest } from './upstream.ts'

/** How a project reaches a provider with one of its keys. */
export interface ProviderOptions extends Pick<UpstreamCall, 'name' | 'limits' | 'probe'> {
  kind: ProviderKind
  pricedAs: string
  /** The project whose requests it answers. */
  projectId: number
  baseUrl: string
  apiKey: string
  /** Its name in messages. */
  title?: string
  /** Path prefixes of operations that it accepts; any by default. */
  passes?: readonly string[] | null
}

export interface Recipient extends Pick<ProviderOptions, 'name' | 'kind' | 'projectId' | 'limits' | 'probe'> {
  url: string
  /** Headers that replace the client's. */
  headers: Record<string, string>
  credentials: UpstreamCall['credentials']
}

export function sendAsked(
  request: UpstreamRequest,
  body: string | Uint8Array,
  recipient: Recipient,
): Promise<UpstreamAnswer> {
  return callUpstream({ ...recipient, headers: writeHeaders(request, recipient), body, signal: request.signal })
}

type Sent = Omit<PassedRequest, 'path' | 'leavesTrace' | 'isDownload'> & { isDownload?: boolean }

/** The client's Accept header stays, because the response may be a stream, or no JSON. */
export function sendPassed(
  { method, body, headers: given, isDownload, signal }: Sent,
  recipient: Recipient,
): Promise<UpstreamAnswer> {
  const headers = writeHeaders({ headers: given, stream: false }, recipient)
  headers.set('accept', given.get('accept') ?? '*/*')
  if (body) headers.set('content-type', body.contentType)
  else headers.delete('content-type')
  const { limits } = recipient
  return callUpstream({
    ...recipient,
    method,
    headers,
    body: body?.bytes ?? null,
    signal,
    limits: isDownload ? { ...limits, maxAnswerBytes: Number.POSITIVE_INFINITY } : limits,
  })
}

function writeHeaders(
  request: Pick<UpstreamRequest, 'headers' | 'stream'>,
  { kind, projectId, headers: own }: Recipient,
): Headers {
  const headers = writeRequestHeaders(request, kind, projectId)
  for (const [header, value] of Object.entries(own)) headers.set(header, value)
  return headers
}

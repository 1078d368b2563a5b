/** The headers of a request to upstream: what may cross from the client's, and what every request of ours has. */
import { forwardedHeaders, type ProviderKind } from './forwarded-headers.ts'
import type { UpstreamRequest } from './upstream.ts'

const USER_AGENT = 'model-proxy'

/** Less the credential, which each provider has its own way to carry. */
export function writeRequestHeaders(
  { headers, stream }: Pick<UpstreamRequest, 'headers' | 'stream'>,
  kind: ProviderKind,
  projectId: number,
): Headers {
  const written = new Headers(forwardedHeaders(headers, kind, projectId))
  written.set('user-agent', USER_AGENT)
  written.set('content-type', 'application/json')
  written.set('accept', stream ? 'text/event-stream' : 'application/json')
  // A compressed stream arrives in lumps.
  written.set('accept-encoding', 'identity')
  return written
}

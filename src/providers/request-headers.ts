/** The headers of a request to an upstream: the client's that may cross, and the proxy's own. */
import { forwardedHeaders, type ProviderKind } from './forwarded-headers.ts'
import type { UpstreamRequest } from './upstream.ts'

const USER_AGENT = 'model-proxy'

/** Without the credential, which each provider adds in its own way. */
export function writeRequestHeaders(
  { headers, stream }: Pick<UpstreamRequest, 'headers' | 'stream'>,
  kind: ProviderKind,
  projectId: number,
): Headers {
  const written = new Headers(forwardedHeaders(headers, kind, projectId))
  written.set('user-agent', USER_AGENT)
  written.set('content-type', 'application/json')
  written.set('accept', stream ? 'text/event-stream' : 'application/json')
  // A compressed stream arrives in bursts.
  written.set('accept-encoding', 'identity')
  return written
}

/** What goes into the pipeline and what comes out, free of any HTTP framework. */
import type { Endpoint } from '../providers/upstream.ts'

export interface ProxyRequest {
  /** Ours, or the client's where it sent a sane one. */
  id: string
  endpoint: Endpoint
  /** The Authorization header. */
  authorization: string | null
  /** The client's address, as far as it can be trusted. */
  address: string
  headers: Headers
  /** Whether the body is announced to be so small that it may be read before the key is known to be good. */
  isSmall: boolean
  /** Reads the body; throws a ProxyError where it is too large, too slow, or not text. */
  readBody(): Promise<string>
  /** Aborted when the client goes away. */
  signal: AbortSignal
  /** `performance.now()` at arrival. */
  arrivedAtMs: number
}

export interface ProxyResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string | ReadableStream<Uint8Array>
}

/** The status that logs and records have for a client that went away; never sent. */
export const CLIENT_GONE_STATUS = 499

/** What goes into the pipeline and what comes out, independent of any HTTP framework. */
import type { CallFailure } from '../coalescing/shared-call.ts'
import type { Endpoint } from '../providers/upstream.ts'

export interface ProxyRequest {
  /** The client's X-Request-Id if it is valid, else a generated one. */
  id: string
  endpoint: Endpoint
  /** The Authorization header. */
  authorization: string | null
  /** The client's address, as far as it can be trusted. */
  address: string
  headers: Headers
  body: RequestBody
  /** Aborted when the client goes away. */
  signal: AbortSignal
  /** `performance.now()` at arrival. */
  arrivedAtMs: number
  /** Registers a callback for when the response was sent, or the client has left. */
  whenOver(act: () => void): void
}

/** A request body that is not read yet. */
export interface RequestBody {
  /** From Content-Length; 0 when there is no body, null when it is chunked. */
  announcedBytes: number | null
  /** Announced, with 64 KiB at most: small enough to be read before the request is admitted. */
  isSmall: boolean
  /**
   * May be called once. Throws a ProxyError when the body is too large or too slow. `takesForms`: whether a form is accepted besides
   * JSON.
   */
  readBytes(takesForms?: boolean): Promise<Uint8Array>
  /** Reserves memory for what parsing made of the body, until the request is answered. Throws a 503 when there is none left. */
  hold(bytes: number): void
}

export interface ProxyResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string | ReadableStream<Uint8Array>
}

/** The response, or why there is none. Without one, nothing was sent and the request is not accounted for. */
export type Attempt = { response: ProxyResponse } | { failure: CallFailure }

/** Logged and recorded when the client has left; never sent. */
export const CLIENT_GONE_STATUS = 499

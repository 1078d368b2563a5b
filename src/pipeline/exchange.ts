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
  body: RequestBody
  /** Aborted when the client goes away. */
  signal: AbortSignal
  /** `performance.now()` at arrival. */
  arrivedAtMs: number
  /** Has this called when its answer has been handed over, or nobody waits for it any more. */
  whenOver(act: () => void): void
}

/** A body before it is read. */
export interface RequestBody {
  /** By its Content-Length; 0 where there is none, null where it comes in chunks. */
  announcedBytes: number | null
  /** Announced, with 64 KiB at most: small enough to be read before the request may pass. */
  isSmall: boolean
  /** Once. Throws a ProxyError where it is too large or too slow. `takesForms`: whether it may be a form as well as JSON. */
  readBytes(takesForms?: boolean): Promise<Uint8Array>
}

export interface ProxyResponse {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string | ReadableStream<Uint8Array>
}

/** The status that logs and records have for a client that went away; never sent. */
export const CLIENT_GONE_STATUS = 499

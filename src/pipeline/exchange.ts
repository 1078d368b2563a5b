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

/** Thrown as the abort reason when the client has gone: nobody is left to tell. */
export class ClientGone extends Error {
  constructor() {
    super('The client went away')
    this.name = 'ClientGone'
  }
}

/** The status that logs and records have for it; never sent. */
export const CLIENT_GONE_STATUS = 499

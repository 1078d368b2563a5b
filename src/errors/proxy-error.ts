/**
 * Defines the error type of the proxy, and its form for transfer between threads. Its status, code and message go to the client; its cause is
 * only logged.
 */

export interface ProxyErrorOptions {
  /** HTTP status of the response. */
  status: number
  /** OpenAI's machine-readable `error.code`. */
  code: string
  /** Shown to the client: says what is wrong and what to change. Never contains a prompt, a key or a secret. */
  message: string
  /** OpenAI's `error.type`; by default derived from the status. */
  type?: string
  /** The request field or header at fault. */
  param?: string
  /** Anthropic's `error.details`, on which its clients act. */
  details?: Readonly<Record<string, unknown>>
  /** Extra response headers, such as `Retry-After`. */
  headers?: Record<string, string>
  /** Whether a provider sent this error in place of a response. The provider has then charged no more than it reported. */
  replacesResponse?: boolean
  /** Only logged. */
  cause?: unknown
}

/** An error for the client. `createError()` creates it from the catalogue, `createUpstreamError()` from an upstream's error. */
export class ProxyError extends Error {
  readonly status: number
  readonly code: string
  readonly type: string
  readonly param: string | null
  readonly details: Readonly<Record<string, unknown>> | null
  readonly replacesResponse: boolean
  /** Headers that are added to the response. */
  readonly headers: Record<string, string>

  constructor(options: ProxyErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ProxyError'
    this.status = options.status
    this.code = options.code
    this.type = options.type ?? defaultTypeOf(options.status)
    this.param = options.param ?? null
    this.details = options.details ?? null
    this.replacesResponse = options.replacesResponse ?? false
    this.headers = { ...options.headers }
  }

  /** OpenAI's error envelope. */
  toBody(): { error: { message: string; type: string; param: string | null; code: string } } {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }
}

function defaultTypeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  if (status >= 500) return 'api_error'
  return 'invalid_request_error'
}

/** Returns the result, or throws the error. */
export function throwIfError<Result>(result: Result | ProxyError): Result {
  if (result instanceof ProxyError) throw result
  return result
}

/** Thrown, and used as an abort reason, when the client has disconnected: no response can be sent. */
export class ClientDisconnected extends Error {
  /** False when every upstream call so far had failed at no cost, and none was in flight. */
  readonly mayHaveCost: boolean

  constructor(mayHaveCost = true) {
    super('The client disconnected')
    this.name = 'ClientDisconnected'
    this.mayHaveCost = mayHaveCost
  }
}

/** Creates an error with the message that an upstream reported. The catalogue cannot list such errors. */
export function createUpstreamError(
  reported: Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>,
): ProxyError {
  return new ProxyError({ ...reported, replacesResponse: true })
}

/** An error as it is sent between threads: structured cloning loses its class. A ProxyError keeps all but its cause; any other, its message. */
export type SerializedError = { proxyError: ProxyErrorOptions } | { message: string }

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof ProxyError)) return { message: error instanceof Error ? error.message : String(error) }
  const { status, code, message, type, param, details, headers, replacesResponse } = error
  const more = {
    ...(param && { param }),
    ...(details && { details }),
    ...(replacesResponse && { replacesResponse }),
  }
  return { proxyError: { status, code, message, type, headers, ...more } }
}

export function deserializeError(serialized: SerializedError): Error {
  return 'proxyError' in serialized ? new ProxyError(serialized.proxyError) : new Error(serialized.message)
}

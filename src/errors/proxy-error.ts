/** Defines the error type of the proxy. Its status, code and message go to the client; its cause is only logged. */

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

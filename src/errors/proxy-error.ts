/** The one error type. What the client gets (status, code, message) is separate from what is logged (cause). */

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
  /** What a client acts on beyond that: Anthropic's `error.details`. */
  details?: Readonly<Record<string, unknown>>
  /** Extra response headers, such as `Retry-After`. */
  headers?: Record<string, string>
  /** Whether a provider ended its response with this in place of one: then it has charged no more than it reported. */
  replacesResponse?: boolean
  /** Only logged. */
  cause?: unknown
}

/** Created by `refuse()` from the catalogue of errors, or by `createUpstreamError()` from an upstream's error. */
export class ProxyError extends Error {
  readonly status: number
  readonly code: string
  readonly type: string
  readonly param: string | null
  readonly details: Readonly<Record<string, unknown>> | null
  readonly replacesResponse: boolean
  /** Added to the response's headers. */
  readonly headers: Record<string, string>

  constructor(options: ProxyErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ProxyError'
    this.status = options.status
    this.code = options.code
    this.type = options.type ?? typeOfStatus(options.status)
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

function typeOfStatus(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  if (status >= 500) return 'api_error'
  return 'invalid_request_error'
}

/** Thrown, and used as an abort reason, when the client has left: no response can be sent. */
export class ClientDisconnected extends Error {
  /** False: while all that was asked for it had failed, at no cost, and nothing else was being asked. */
  readonly mayHaveCost: boolean

  constructor(mayHaveCost = true) {
    super('The client went away')
    this.name = 'ClientGone'
    this.mayHaveCost = mayHaveCost
  }
}

/** The one error type: what the client is told (status, code, message) apart from what the log is told (cause). */

export interface ProxyErrorOptions {
  /** HTTP status of the answer. */
  status: number
  /** OpenAI's machine-readable `error.code`. */
  code: string
  /** Shown to the client: says what is wrong and what to change. Never holds a prompt, a key or a secret. */
  message: string
  /** OpenAI's `error.type`; by default derived from the status. */
  type?: string
  /** The request field or header at fault. */
  param?: string
  /** Extra response headers, such as `Retry-After`. */
  headers?: Record<string, string>
  /** For the log only. */
  cause?: unknown
}

/** Made by `refuse()` from the catalogue of errors, or by `quoteError()` of what an upstream said. */
export class ProxyError extends Error {
  readonly status: number
  readonly code: string
  readonly type: string
  readonly param: string | null
  /** Added to the answer's headers. */
  readonly headers: Record<string, string>

  constructor(options: ProxyErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ProxyError'
    this.status = options.status
    this.code = options.code
    this.type = options.type ?? typeOfStatus(options.status)
    this.param = options.param ?? null
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

/** Thrown, and the reason of aborts, when the client has gone: nobody is left to tell. */
export class ClientGone extends Error {
  constructor() {
    super('The client went away')
    this.name = 'ClientGone'
  }
}

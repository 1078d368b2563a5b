/** Stands for the trace of a request or a task that is not sampled. */
import type { InternalCall, RequestTrace, TaskTrace } from './request-trace.ts'

/** Records nothing, and writes an unsampled trace context into forwarded headers. */
export class UnsampledTrace implements RequestTrace, TaskTrace {
  readonly #headers: Headers
  readonly #injectContext: (headers: Headers) => void

  constructor(headers: Headers, injectContext: (headers: Headers) => void) {
    this.#headers = headers
    this.#injectContext = injectContext
  }

  beginCall(): void {
    this.#injectContext(this.#headers)
  }

  traceInternalCall<T>(_: InternalCall, send: (headers: Headers) => Promise<T>): Promise<T> {
    return this.#sendUnsampled(send)
  }

  traceHook<T>(_: string, send: (headers: Headers) => Promise<T>): Promise<T> {
    return this.#sendUnsampled(send)
  }

  #sendUnsampled<T>(send: (headers: Headers) => Promise<T>): Promise<T> {
    const headers = new Headers()
    this.#injectContext(headers)
    return send(headers)
  }

  recordFailedAttempt(): void {}

  failCall(): void {}

  end(): void {}
}

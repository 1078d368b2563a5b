/**
 * The spans of one request, or of one task in the background: one for itself, and one for each model that was asked. No prompt and no answer is
 * in them.
 */
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { UsageRecord } from '../../postgres/usage-record.ts'
import {
  ERROR_TYPE_ATTRIBUTE,
  GEN_AI_ATTRIBUTES,
  genAiOperationOf,
  HTTP_ATTRIBUTES,
  PROXY_ATTRIBUTES,
} from './span-attributes.ts'

export interface TracedRequest {
  method: string
  /** What the path asks for, without ids and names. */
  route(): string
  /** The client's. What is asked of an upstream with them belongs to the same trace. */
  headers: Headers
}

export interface Tracing {
  startRequest(request: TracedRequest): RequestTrace
  /** Of what no request waits for: a trace of its own. */
  startTask(task: TracedTask): TaskTrace
  /** Sends what waits. Resolves when that is done, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export interface TracedTask {
  purpose: 'judge'
  project: string
}

export interface TracedModelCall {
  endpoint: string
  model: string
  stream: boolean
}

/** A call that the proxy makes for itself. */
export interface InternalCall {
  endpoint: string
  model: string
  provider: string
  purpose: 'judge' | 'embedder'
}

/** What is known of a request that was recorded. */
export interface RequestTraceResult {
  record: UsageRecord
  project: string
  /** The model that the answer names. */
  responseModel: string | undefined
}

/** Of whatever asks models beside its own. */
export interface InternalCallTrace {
  /** The call's place in the trace is in the headers that `ask` gets. */
  traceInternalCall<T>(asked: InternalCall, ask: (headers: Headers) => Promise<T>): Promise<T>
}

export interface TaskTrace extends InternalCallTrace {
  end(): void
}

export interface RequestTrace extends InternalCallTrace {
  /** A model is asked, once more perhaps: what belongs together is one call. `substitute`: the model in place of the one asked for. */
  beginCall(asked: TracedModelCall, provider: string, substitute: string | null): void
  /** The hook is asked. The call's place in the trace is in the headers that `ask` gets. */
  traceHook<T>(when: 'before' | 'after', ask: (headers: Headers) => Promise<T>): Promise<T>
  /** The call under way failed; another model may be asked. */
  failCall(failure: unknown): void
  /** `failure` is what the request ended with, if it failed. */
  end(status: number, end?: RequestTraceResult, failure?: unknown): void
}

/** Writes a span's place into headers. */
export type TraceContextInjector = (context: Context, headers: Headers) => void

type StartCall = (asked: Omit<InternalCall, 'purpose'>, more: Attributes, sent: Headers) => Span

/** Calls below a span. The place of each is written into the headers that are sent. */
function callsBelow(tracer: Tracer, inject: TraceContextInjector, here: Context): StartCall {
  return ({ endpoint, model, provider }, more, sent) => {
    const operation = genAiOperationOf(endpoint)
    const attributes = {
      [GEN_AI_ATTRIBUTES.operation]: operation,
      [GEN_AI_ATTRIBUTES.provider]: provider,
      [GEN_AI_ATTRIBUTES.requestModel]: model,
      ...more,
    }
    const span = tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, attributes }, here)
    inject(trace.setSpan(here, span), sent)
    return span
  }
}

function asidesBelow(startCall: StartCall): InternalCallTrace {
  return {
    traceInternalCall(asked, ask) {
      const place = new Headers()
      const span = startCall(asked, { [PROXY_ATTRIBUTES.purpose]: asked.purpose }, place)
      return endWith(span, ask(place))
    },
  }
}

async function endWith<T>(span: Span, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    fail(span, error)
    throw error
  } finally {
    span.end()
  }
}

export function startTaskTrace(
  tracer: Tracer,
  inject: TraceContextInjector,
  parent: Context,
  { purpose, project }: TracedTask,
): TaskTrace {
  const attributes = { [PROXY_ATTRIBUTES.purpose]: purpose, [PROXY_ATTRIBUTES.project]: project }
  const task = tracer.startSpan(purpose, { kind: SpanKind.INTERNAL, attributes }, parent)
  return { ...asidesBelow(callsBelow(tracer, inject, trace.setSpan(parent, task))), end: () => task.end() }
}

export function startRequestTrace(
  tracer: Tracer,
  inject: TraceContextInjector,
  parent: Context,
  request: TracedRequest,
): RequestTrace {
  const { method, headers } = request
  const route = request.route()
  const attributes = { [HTTP_ATTRIBUTES.method]: method, [HTTP_ATTRIBUTES.route]: route }
  const server = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent)
  const here = trace.setSpan(parent, server)
  const startCall = callsBelow(tracer, inject, here)
  let call: Span | null = null

  function endCall(attributes: Attributes, failure?: unknown): void {
    call?.setAttributes(attributes)
    if (failure !== undefined) fail(call, failure)
    call?.end()
    call = null
  }

  return {
    ...asidesBelow(startCall),
    beginCall({ endpoint, model, stream }, provider, substitute) {
      if (call) return
      const asked = { endpoint, model: substitute ?? model, provider }
      call = startCall(asked, { [GEN_AI_ATTRIBUTES.stream]: stream }, headers)
    },
    traceHook(when, ask) {
      const attributes = { [PROXY_ATTRIBUTES.purpose]: 'hook' }
      const span = tracer.startSpan(`hook ${when}`, { kind: SpanKind.CLIENT, attributes }, here)
      const place = new Headers()
      inject(trace.setSpan(here, span), place)
      return endWith(span, ask(place))
    },
    failCall: failure => endCall({}, failure),
    end(status, end, failure) {
      const error = failure ?? (status >= 400 ? { status } : undefined)
      endCall(end ? spentAttributes(end) : {}, error)
      server.setAttributes({ [HTTP_ATTRIBUTES.status]: status, ...(end && requestAttributes(end)) })
      if (status >= 500) fail(server, error)
      server.end()
    },
  }
}

/** Of what is not sampled: nothing is noted, and whoever is asked for it is told so. */
export class UnsampledTrace implements RequestTrace, TaskTrace {
  readonly #headers: Headers
  readonly #tell: (sent: Headers) => void

  constructor(headers: Headers, tell: (sent: Headers) => void) {
    this.#headers = headers
    this.#tell = tell
  }

  beginCall(): void {
    this.#tell(this.#headers)
  }

  traceInternalCall<T>(_: InternalCall, ask: (headers: Headers) => Promise<T>): Promise<T> {
    const place = new Headers()
    this.#tell(place)
    return ask(place)
  }

  traceHook<T>(_: string, ask: (headers: Headers) => Promise<T>): Promise<T> {
    const place = new Headers()
    this.#tell(place)
    return ask(place)
  }

  failCall(): void {}

  end(): void {}
}

function spentAttributes({ record, responseModel }: RequestTraceResult): Attributes {
  const { first_chunk_ms: firstChunkMs = null } = record
  return {
    [GEN_AI_ATTRIBUTES.inputTokens]: record.prompt_tokens,
    [GEN_AI_ATTRIBUTES.cachedInputTokens]: record.cached_prompt_tokens,
    [GEN_AI_ATTRIBUTES.outputTokens]: record.completion_tokens,
    ...(responseModel !== undefined && { [GEN_AI_ATTRIBUTES.responseModel]: responseModel }),
    ...(firstChunkMs !== null && { [GEN_AI_ATTRIBUTES.firstChunkSeconds]: firstChunkMs / 1000 }),
  }
}

function requestAttributes({ record, project }: RequestTraceResult): Attributes {
  return {
    [PROXY_ATTRIBUTES.requestId]: record.request_id,
    [PROXY_ATTRIBUTES.project]: project,
    [PROXY_ATTRIBUTES.endpoint]: record.endpoint,
    [PROXY_ATTRIBUTES.model]: record.model,
    [PROXY_ATTRIBUTES.costUsd]: record.cost_usd,
    [PROXY_ATTRIBUTES.savedTokens]: record.tokens_saved,
    [PROXY_ATTRIBUTES.savedUsd]: record.saved_usd,
    ...(record.provider && { [PROXY_ATTRIBUTES.provider]: record.provider }),
    ...(record.cache_result && { [PROXY_ATTRIBUTES.cacheResult]: record.cache_result }),
    ...(record.cache_reason && { [PROXY_ATTRIBUTES.cacheReason]: record.cache_reason }),
  }
}

/** Names the kind of error and no more: a message may quote a prompt. */
function fail(span: Span | null, failure: unknown): void {
  const { code, status, name } = (failure ?? {}) as { code?: unknown; status?: unknown; name?: unknown }
  span?.setAttribute(ERROR_TYPE_ATTRIBUTE, String(code ?? status ?? name ?? '_OTHER'))
  span?.setStatus({ code: SpanStatusCode.ERROR })
}

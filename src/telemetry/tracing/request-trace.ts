/**
 * Creates the spans of one request or of one background task: one span for itself, and one for each model call. Spans contain no prompts and no
 * responses.
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
import type { Attempt, UsageRecord } from '../../postgres/usage-record.ts'
import {
  ATTEMPT_ATTRIBUTES,
  ERROR_TYPE_ATTRIBUTE,
  FAILED_ATTEMPT_EVENT,
  GEN_AI_ATTRIBUTES,
  genAiOperationOf,
  HTTP_ATTRIBUTES,
  PROXY_ATTRIBUTES,
} from './span-attributes.ts'

export interface TracedRequest {
  method: string
  /** Returns the path without ids and names. */
  route(): string
  /** The client's headers. Upstream calls that forward them belong to the same trace. */
  headers: Headers
}

export interface Tracing {
  startRequest(request: TracedRequest): RequestTrace
  /** Starts a separate trace for a task that no request waits for. */
  startTask(task: TracedTask): TaskTrace
  /** Exports the waiting spans. Resolves when they are exported, or the time is up. */
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

/** The result of a request that has a usage record. */
export interface RequestTraceResult {
  record: UsageRecord
  project: string
  /** The model that the response names. */
  responseModel: string | undefined
}

/** The trace of a request or a task that calls models for the proxy itself. */
export interface InternalCallTrace {
  /** Traces the call that `send` makes. The headers that `send` gets contain the trace context. */
  traceInternalCall<T>(call: InternalCall, send: (headers: Headers) => Promise<T>): Promise<T>
}

export interface TaskTrace extends InternalCallTrace {
  end(): void
}

export interface RequestTrace extends InternalCallTrace {
  /**
   * Starts the span of a model call, unless one is in progress: retries belong to one call. `substitute` is the model in place of the
   * requested one.
   */
  beginCall(call: TracedModelCall, provider: string, substitute: string | null): void
  /** Traces the call to the hook that `send` makes. The headers that `send` gets contain the trace context. */
  traceHook<T>(when: 'before' | 'after', send: (headers: Headers) => Promise<T>): Promise<T>
  /** Adds an event to the current call. */
  recordFailedAttempt(attempt: Attempt): void
  /** Ends the current call as failed. Another model may be called afterwards. */
  failCall(failure: unknown): void
  /** Ends the request's spans. `failure` is the error of a failed request. */
  end(status: number, result?: RequestTraceResult, failure?: unknown): void
}

/** Writes a span's trace context into headers. */
export type TraceContextInjector = (context: Context, headers: Headers) => void

type StartCall = (call: Omit<InternalCall, 'purpose'>, extraAttributes: Attributes, sentHeaders: Headers) => Span

/** Returns a function that starts the span of a model call below `parent`, and writes its trace context into the sent headers. */
function createStartCall(tracer: Tracer, inject: TraceContextInjector, parent: Context): StartCall {
  return ({ endpoint, model, provider }, extraAttributes, sentHeaders) => {
    const operation = genAiOperationOf(endpoint)
    const attributes = {
      [GEN_AI_ATTRIBUTES.operation]: operation,
      [GEN_AI_ATTRIBUTES.provider]: provider,
      [GEN_AI_ATTRIBUTES.requestModel]: model,
      ...extraAttributes,
    }
    const span = tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, attributes }, parent)
    inject(trace.setSpan(parent, span), sentHeaders)
    return span
  }
}

function createInternalCallTrace(startCall: StartCall): InternalCallTrace {
  return {
    traceInternalCall(call, send) {
      const headers = new Headers()
      const span = startCall(call, { [PROXY_ATTRIBUTES.purpose]: call.purpose }, headers)
      return endSpanAfter(span, send(headers))
    },
  }
}

async function endSpanAfter<T>(span: Span, pending: Promise<T>): Promise<T> {
  try {
    return await pending
  } catch (error) {
    markFailed(span, error)
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
  const startCall = createStartCall(tracer, inject, trace.setSpan(parent, task))
  return { ...createInternalCallTrace(startCall), end: () => task.end() }
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
  const context = trace.setSpan(parent, server)
  const startCall = createStartCall(tracer, inject, context)
  let modelCall: Span | null = null

  function endCall(attributes: Attributes, failure?: unknown): void {
    modelCall?.setAttributes(attributes)
    if (failure !== undefined) markFailed(modelCall, failure)
    modelCall?.end()
    modelCall = null
  }

  return {
    ...createInternalCallTrace(startCall),
    beginCall({ endpoint, model, stream }, provider, substitute) {
      if (modelCall) return
      const call = { endpoint, model: substitute ?? model, provider }
      modelCall = startCall(call, { [GEN_AI_ATTRIBUTES.stream]: stream }, headers)
    },
    traceHook(when, send) {
      const attributes = { [PROXY_ATTRIBUTES.purpose]: 'hook' }
      const span = tracer.startSpan(`hook ${when}`, { kind: SpanKind.CLIENT, attributes }, context)
      const hookHeaders = new Headers()
      inject(trace.setSpan(context, span), hookHeaders)
      return endSpanAfter(span, send(hookHeaders))
    },
    recordFailedAttempt(attempt) {
      const known = Object.entries(attempt).filter(([, value]) => value !== null)
      const attributes = known.map(([name, value]) => [ATTEMPT_ATTRIBUTES[name as keyof Attempt], value])
      const span = modelCall ?? server
      span.addEvent(FAILED_ATTEMPT_EVENT, Object.fromEntries(attributes))
    },
    failCall: failure => endCall({}, failure),
    end(status, result, failure) {
      const error = failure ?? (status >= 400 ? { status } : undefined)
      endCall(result ? usageAttributes(result) : {}, error)
      server.setAttributes({ [HTTP_ATTRIBUTES.status]: status, ...(result && requestAttributes(result)) })
      if (status >= 500) markFailed(server, error)
      server.end()
    },
  }
}

function usageAttributes({ record, responseModel }: RequestTraceResult): Attributes {
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

/** Marks the span as failed with the error's code, status or name. It omits the message, because that may quote a prompt. */
function markFailed(span: Span | null, failure: unknown): void {
  const { code, status, name } = (failure ?? {}) as { code?: unknown; status?: unknown; name?: unknown }
  span?.setAttribute(ERROR_TYPE_ATTRIBUTE, String(code ?? status ?? name ?? '_OTHER'))
  span?.setStatus({ code: SpanStatusCode.ERROR })
}

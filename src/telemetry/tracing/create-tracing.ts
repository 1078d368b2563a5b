/** Sends spans to an OpenTelemetry collector in batches, as OTLP in protobuf over HTTP. When 2,048 spans wait, further ones are dropped. */
import { type Context, ROOT_CONTEXT, type SpanContext, type TextMapGetter, TraceFlags, trace } from '@opentelemetry/api'
import { type ExportResult, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { TracingConfig } from '../../config/tracing.ts'
import { withTimeout } from '../../event-loop/timeouts.ts'
import type { Log } from '../log.ts'
import {
  type InternalCall,
  type RequestTrace,
  startRequestTrace,
  startTaskTrace,
  type TaskTrace,
  type TraceContextInjector,
  type Tracing,
} from './request-trace.ts'

const MAX_WAITING = 2_048
const MAX_BATCH = 512
/** The time between exports. Each export takes some milliseconds of processor time, however few spans it contains. */
const EXPORT_INTERVAL_MS = 5_000
const EXPORT_TIMEOUT_MS = 10_000

/** Sampling is decided once for each request, before any span is created: otherwise an unsampled hit would cost as much as a sampled one. */
export function createTracing(config: TracingConfig, log: Log): Tracing {
  const { isSampled, ratio } = createSampler(config)
  const { generateTraceId, generateSpanId } = new RandomIdGenerator()
  /** The trace id of the request that is being started. */
  let traceId = ''
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': config.serviceName,
      'service.instance.id': crypto.randomUUID(),
      ...config.resourceAttributes,
    }),
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => traceId, generateSpanId },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: createExporter(config, log),
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: MAX_BATCH,
        scheduledDelayMillis: EXPORT_INTERVAL_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('model-proxy')
  const propagator = new W3CTraceContextPropagator()
  const setter = { set: (headers: Headers, name: string, value: string) => headers.set(name, value) }
  const inject: TraceContextInjector = (context, headers) => propagator.inject(context, headers, setter)

  /**
   * Returns null when the trace is sampled, and sets `traceId`. A trace that begins here is sampled at random. An unsampled trace gets an id
   * only when a model is called, because the id is only written into forwarded headers.
   */
  function startUnsampled(parent: Context, headers: Headers): UnsampledTrace | null {
    const parentSpan = trace.getSpanContext(parent)
    if (parentSpan ? isSampled(parentSpan) : Math.random() < ratio) {
      traceId = parentSpan?.traceId ?? generateTraceId()
      return null
    }
    let context: Omit<SpanContext, 'spanId'> | undefined
    return new UnsampledTrace(headers, sent => {
      context ??= { traceId: generateTraceId(), ...parentSpan, traceFlags: TraceFlags.NONE }
      inject(trace.setSpanContext(parent, { ...context, spanId: generateSpanId() }), sent)
    })
  }

  return {
    startRequest(request) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, GETTER)
      return startUnsampled(parent, request.headers) ?? startRequestTrace(tracer, inject, parent, request)
    },
    startTask: task =>
      startUnsampled(ROOT_CONTEXT, new Headers()) ?? startTaskTrace(tracer, inject, ROOT_CONTEXT, task),
    async drain(timeLimitMs) {
      await withTimeout(timeLimitMs, provider.forceFlush()).catch(() => {})
    },
  }
}

const GETTER: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: headers => [...headers.keys()],
}

/** Returns the `ratio` of sampled traces among those that begin here, and `isSampled` for traces that began elsewhere. */
function createSampler({ sampler, samplerRatio }: TracingConfig) {
  const name = sampler.replace('parentbased_', '')
  const ratio = name === 'always_on' ? 1 : name === 'always_off' ? 0 : samplerRatio
  const sampling = new TraceIdRatioBasedSampler(ratio)
  return {
    ratio,
    isSampled({ traceId, traceFlags }: SpanContext): boolean {
      if (name !== sampler) return (traceFlags & TraceFlags.SAMPLED) !== 0
      return sampling.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED
    },
  }
}

/** Creates an exporter that logs when spans are lost, and when they are exported again. */
function createExporter({ url, headers }: TracingConfig, log: Log): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_TIMEOUT_MS })
  let lost = 0
  function logResult({ code, error }: ExportResult, spans: number): void {
    if (code === 0 && lost > 0) log.info({ lost }, 'spans are exported again')
    if (code === 0) log.failures.recover('traces')
    else log.failures.report('traces', error, 'spans could not be exported and are lost')
    lost = code === 0 ? 0 : lost + spans
  }
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        logResult(result, spans.length)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}

/** Stands for the trace of a request or a task that is not sampled: records nothing, and writes an unsampled trace context into forwarded headers. */
class UnsampledTrace implements RequestTrace, TaskTrace {
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

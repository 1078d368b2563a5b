/** Sends spans to an OpenTelemetry collector: OTLP in protobuf over HTTP, in batches; beyond 2,048 that wait, spans are dropped. */
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
  startRequestTrace,
  startTaskTrace,
  type TraceContextInjector,
  type Tracing,
  UnsampledTrace,
} from './request-trace.ts'

const MAX_WAITING = 2_048
const MAX_BATCH = 512
/** An export takes some milliseconds of processor time, however few spans are in it. */
const EVERY_MS = 5_000
const EXPORT_TIMEOUT_MS = 10_000

/** Whether a request is sampled is decided once, before anything is made for it: else a hit without a span costs what one with a span does. */
export function createTracing(config: TracingConfig, log: Log): Tracing {
  const { isSampled, ratio } = createSampler(config)
  const { generateTraceId, generateSpanId } = new RandomIdGenerator()
  /** Of the request that begins. */
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
        scheduledDelayMillis: EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('model-proxy')
  const places = new W3CTraceContextPropagator()
  const setter = { set: (headers: Headers, name: string, value: string) => headers.set(name, value) }
  const inject: TraceContextInjector = (context, headers) => places.inject(context, headers, setter)

  /** Null if what has this parent is sampled. What begins here is drawn by lot: most get no id, which is written only where a model is asked. */
  function pass(parent: Context, headers: Headers): UnsampledTrace | null {
    const given = trace.getSpanContext(parent)
    if (given ? isSampled(given) : Math.random() < ratio) {
      traceId = given?.traceId ?? generateTraceId()
      return null
    }
    let place: Omit<SpanContext, 'spanId'> | undefined
    return new UnsampledTrace(headers, sent => {
      place ??= { traceId: generateTraceId(), ...given, traceFlags: TraceFlags.NONE }
      inject(trace.setSpanContext(parent, { ...place, spanId: generateSpanId() }), sent)
    })
  }

  return {
    startRequest(request) {
      const parent = places.extract(ROOT_CONTEXT, request.headers, GETTER)
      return pass(parent, request.headers) ?? startRequestTrace(tracer, inject, parent, request)
    },
    startTask: task => pass(ROOT_CONTEXT, new Headers()) ?? startTaskTrace(tracer, inject, ROOT_CONTEXT, task),
    async drain(timeLimitMs) {
      await withTimeout(timeLimitMs, provider.forceFlush()).catch(() => {})
    },
  }
}

const GETTER: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: headers => [...headers.keys()],
}

/** `ratio`: of the traces that begin here. `isSampled`: of one that began elsewhere. */
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

/** Says in the log when spans begin to be lost, and when they arrive again. */
function createExporter({ url, headers }: TracingConfig, log: Log): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_TIMEOUT_MS })
  let lost = 0
  function note({ code, error }: ExportResult, spans: number): void {
    if (code === 0 && lost > 0) log.info({ lost }, 'spans are exported again')
    if (code === 0) log.failures.recover('traces')
    else log.failures.report('traces', error, 'spans could not be exported; lost')
    lost = code === 0 ? 0 : lost + spans
  }
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        note(result, spans.length)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}

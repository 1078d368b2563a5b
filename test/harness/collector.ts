/** An OpenTelemetry collector: receives OTLP over HTTP and decodes it with code generated from OpenTelemetry's own protocol files. */
import { gunzipSync } from 'node:zlib'
import generated from 'otlp-decoder/build/src/generated/root.js'

export interface CollectedSpan {
  name: string
  /** 2: SERVER, 3: CLIENT. */
  kind: number
  traceId: string
  spanId: string
  /** Empty for a root span. */
  parentSpanId: string
  traceState: string
  /** 2: ERROR. */
  statusCode: number
  durationMs: number
  attributes: Record<string, unknown>
  events: { name: string; attributes: Record<string, unknown> }[]
  resource: Record<string, unknown>
}

export interface Collector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans: CollectedSpan[]
  /** The headers of each delivery. */
  deliveries: Headers[]
  /** All received data as text, to check that it does not contain a secret. */
  text(): string
  /** Sets the status of later deliveries. Deliveries with a status other than 200 are discarded. */
  answerWith(status: number): void
  stop(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: its types name no message
const { ExportTraceServiceRequest } = (generated as any).opentelemetry.proto.collector.trace.v1

export function startCollector(): Collector {
  const spans: CollectedSpan[] = []
  const deliveries: Headers[] = []
  const received: Buffer[] = []
  let status = 200
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (new URL(request.url).pathname !== '/v1/traces') return new Response(null, { status: 404 })
      const sent = Buffer.from(await request.arrayBuffer())
      const bytes = request.headers.get('content-encoding') === 'gzip' ? gunzipSync(sent) : sent
      deliveries.push(request.headers)
      if (status !== 200) return new Response(null, { status })
      received.push(bytes)
      spans.push(...readSpans(bytes))
      return new Response(null, { headers: { 'content-type': 'application/x-protobuf' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    deliveries,
    text: () => Buffer.concat(received).toString('latin1'),
    answerWith(next) {
      status = next
    },
    stop: () => server.stop(true),
  }
}

interface Attribute {
  key: string
  value: Record<string, unknown>
}

/** Throws if the bytes are not a valid export request. */
function readSpans(bytes: Uint8Array): CollectedSpan[] {
  const message = ExportTraceServiceRequest.decode(bytes)
  const wrong = ExportTraceServiceRequest.verify(message)
  if (wrong !== null) throw new Error(wrong)
  const plain = ExportTraceServiceRequest.toObject(message, { longs: Number, bytes: Array })
  return plain.resourceSpans.flatMap((from: { resource: { attributes: Attribute[] }; scopeSpans: { spans: [] }[] }) =>
    from.scopeSpans.flatMap(scope =>
      scope.spans.map(span => ({ ...readSpan(span), resource: valuesOf(from.resource.attributes) })),
    ),
  )
}

interface WireSpan extends Pick<CollectedSpan, 'name' | 'kind'> {
  traceId: number[]
  spanId: number[]
  parentSpanId?: number[]
  traceState?: string
  status?: { code?: number }
  startTimeUnixNano: number
  endTimeUnixNano: number
  attributes?: Attribute[]
  events?: { name: string; attributes?: Attribute[] }[]
}

function readSpan(span: WireSpan): Omit<CollectedSpan, 'resource'> {
  return {
    name: span.name,
    kind: span.kind,
    traceId: hexOf(span.traceId),
    spanId: hexOf(span.spanId),
    parentSpanId: hexOf(span.parentSpanId ?? []),
    traceState: span.traceState ?? '',
    statusCode: span.status?.code ?? 0,
    durationMs: (span.endTimeUnixNano - span.startTimeUnixNano) / 1e6,
    attributes: valuesOf(span.attributes ?? []),
    events: (span.events ?? []).map(({ name, attributes = [] }) => ({ name, attributes: valuesOf(attributes) })),
  }
}

function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

function hexOf(bytes: number[]): string {
  return Buffer.from(bytes).toString('hex')
}

/** Sampling of requests, and the trace context that providers receive for requests without a trace. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { TracingConfig } from '../../../src/config/tracing.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { createTracing } from '../../../src/telemetry/tracing/create-tracing.ts'
import { startCollector } from '../../harness/collector.ts'

const REQUESTS = 400
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const UNSAMPLED = /^00-([0-9a-f]{32})-([0-9a-f]{16})-00$/
const ASKED = { endpoint: 'chat', model: 'm', stream: false }

const collector = startCollector()
afterAll(() => collector.stop())
beforeEach(() => {
  collector.spans.length = 0
})

function trace(sampler: TracingConfig['sampler'], samplerRatio: number) {
  const about = { serviceName: 'test', headers: {}, resourceAttributes: {} }
  const tracing = createTracing(
    { url: `${collector.url}/v1/traces`, sampler, samplerRatio, ...about },
    createLog('silent'),
  )
  return {
    /** Traces a request with one provider call, and returns the headers that the provider receives. */
    ask(given: Record<string, string> = {}): Headers {
      const headers = new Headers(given)
      const begun = tracing.startRequest({ method: 'POST', route: () => '/v1/chat/completions', headers })
      begun.beginCall(ASKED, 'openai', null)
      begun.end(200)
      return headers
    },
    async told() {
      await tracing.drain(5_000)
      return collector.spans
    },
  }
}

test('exports a share of the traces, each of them whole', async () => {
  const { ask, told } = trace('parentbased_traceidratio', 0.25)
  const sent = Array.from({ length: REQUESTS }, () => ask().get('traceparent') ?? '')
  const spans = await told()
  const sampled = sent.filter(place => place.endsWith('-01'))
  expect(sampled.length / REQUESTS).toBeGreaterThan(0.1)
  expect(sampled.length / REQUESTS).toBeLessThan(0.4)
  for (const kind of [2, 3])
    expect(spans.filter(span => span.kind === kind).map(({ traceId }) => traceId)).toEqual(
      sampled.map(place => place.split('-')[1]),
    )
  expect(new Set(sent.map(place => place.split('-')[1])).size).toBe(REQUESTS)
})

test('tells upstreams of an unsampled request that its trace is not sampled', async () => {
  const { ask, told } = trace('parentbased_always_off', 1)
  expect(ask().get('traceparent')).toMatch(UNSAMPLED)
  expect(await told()).toEqual([])
})

test('the client decides about its own trace, whatever the share', async () => {
  const { ask, told } = trace('parentbased_traceidratio', 0)
  const tracestate = 'vendor=one'
  ask({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate })
  expect(await told()).toMatchObject([{ kind: 3 }, { kind: 2, traceId: TRACE_ID, parentSpanId: PARENT_ID }])
  const quiet = ask({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-00`, tracestate })
  const [, traceId, spanId] = UNSAMPLED.exec(quiet.get('traceparent') ?? '') ?? []
  expect([traceId, quiet.get('tracestate')]).toEqual([TRACE_ID, tracestate])
  expect(spanId).not.toBe(PARENT_ID)
  expect(await told()).toHaveLength(2)
})

test('without the client’s decision, a ratio follows the trace’s id', async () => {
  const low = '00000001000000000000000000000000'
  const high = 'fffffff1000000000000000000000000'
  const { ask, told } = trace('traceidratio', 0.5)
  for (const id of [low, high]) for (const flag of ['00', '01']) ask({ traceparent: `00-${id}-${PARENT_ID}-${flag}` })
  const servers = (await told()).filter(({ kind }) => kind === 2)
  expect(servers.map(({ traceId }) => traceId)).toEqual([low, low])
})

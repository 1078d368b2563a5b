/**
 * The metrics contain every response of the API exactly once: as a recorded request, or as a response without a record. Responses without a
 * record are counted separately.
 */
import { expect, test } from 'vitest'
import { resolveTarget, routeOf, TARGETS_BY_PATH } from '../../src/http/paths.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { GEMINI_PATHS } from '../harness/gemini-paths.ts'
import { startProxy } from '../harness/proxy.ts'
import { COLLECTIONS, listObjectPaths } from '../harness/stored-object-paths.ts'
import { SEEDED_DETECTOR } from '../harness/vendors.ts'

const PATHS = [
  ...Object.keys(TARGETS_BY_PATH),
  ...GEMINI_PATHS,
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/v1/${operation}`),
  ...COLLECTIONS.flatMap(name => listObjectPaths(name).map(path => `/v1${path}`)),
  '/v1/models/gpt-4o-mini',
  '/openai/deployments/gpt-4o-mini/chat/completions',
  '/v1/unheard-of',
]
const METHODS = ['GET', 'POST', 'DELETE', 'PUT']

describeOnce('responses', backend => {
  test('are counted once, whatever their kind', async () => {
    const metrics = createMetrics()
    const proxy = await startProxy({ stores: await backend.open(), metrics })
    const origin = `http://127.0.0.1:${proxy.port}`
    const key = await proxy.createKey()
    const seriesOf = (name: string) => metrics.snapshot().find(family => family.name === name)?.series ?? []
    const total = (name: string) => seriesOf(name).reduce((sum, { value }) => sum + value, 0)
    let answers = 0
    async function send(path: string, method: string, authorization: string | null, body?: string) {
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
      const response = await fetch(`${origin}${path}`, { method, headers, body: method === 'POST' ? body : undefined })
      await response.arrayBuffer()
      answers++
    }
    try {
      for (const path of PATHS) {
        for (const method of METHODS) {
          await send(path, method, null, '{}')
          await send(path, method, 'Bearer lgw_proj_wrong', '{')
          await send(path, method, `Bearer ${key}`, '{')
        }
        const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
        await fetch(`${origin}${path}`, { method: 'OPTIONS', headers })
        answers++
      }
      for (const stream of [false, true, false]) {
        await send('/v1/chat/completions', 'POST', `Bearer ${key}`, JSON.stringify(question('Here?', { stream })))
      }
      await proxy.settle()
      const [recorded] = await proxy.query<{ count: number }>('select count(*)::int from usage_records')
      expect(recorded?.count).toBeGreaterThan(10)
      expect(total('model_proxy_requests_total')).toBe(recorded?.count)
      expect(total('model_proxy_requests_total') + total('model_proxy_unrecorded_requests_total')).toBe(answers)
      const routes = seriesOf('model_proxy_unrecorded_requests_total').map(({ labels }) => labels[0] ?? '')
      const known = new Set(
        PATHS.map(path => resolveTarget(path, SEEDED_DETECTOR)).map(target => (target ? routeOf(target) : 'other')),
      )
      expect(routes.filter(route => !known.has(route))).toEqual([])
    } finally {
      await proxy.stop()
    }
  })

  test('usage and cost of an embedder at an API are reported apart from the requests', async () => {
    const upstream = await startFakeProvider({ flavour: 'aggregator' })
    const metrics = createMetrics()
    const environment = {
      ...upstream.environment,
      EMBEDDER: 'api',
      EMBEDDINGS_BASE_URL: upstream.baseUrl,
      EMBEDDINGS_API_KEY: 'k',
      EMBEDDINGS_MODEL: 'openai/text-embedding-3-small',
    }
    const proxy = await startProxy({ stores: await backend.open(), metrics, environment })
    const sumOf = (name: string, label: string) =>
      metrics
        .snapshot()
        .find(family => family.name === name)
        ?.series.filter(({ labels }) => labels.includes(label))
        .reduce((sum, { value }) => sum + value, 0)
    try {
      const key = await proxy.createKey({ type: 'project' })
      expect((await ask(proxy, key, 'How are vectors of questions paid for?')).status).toBe(200)
      await proxy.settle()
      const tokens = sumOf('model_proxy_tokens_total', 'embedder') ?? 0
      expect(tokens).toBeGreaterThan(0)
      expect(sumOf('model_proxy_cost_usd_total', 'embedder')).toBeCloseTo(tokens * 0.02e-6, 12)
      const [recorded] = await proxy.query<{ tokens: number }>(
        'select sum(prompt_tokens)::int as tokens from usage_records where cost_usd > 0',
      )
      expect(sumOf('model_proxy_tokens_total', 'input')).toBe(recorded?.tokens)
    } finally {
      await Promise.all([proxy.stop(), upstream.stop()])
    }
  })
})

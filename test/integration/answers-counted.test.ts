/** A scrape tells of every answer of the API once: as a request that was recorded, or as an answer that left no record. */
import { expect, test } from 'vitest'
import { readPath, routeOf, TARGETS } from '../../src/http/paths.ts'
import { COLLECTION_PATHS, OPERATIONS } from '../../src/providers/operations.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { startProxy } from '../harness/proxy.ts'

const PATHS = [
  ...Object.keys(TARGETS),
  ...Object.keys(OPERATIONS).map(operation => `/v1/${operation}`),
  ...Object.values(COLLECTION_PATHS).flatMap(path => [`/v1${path}`, `/v1${path}/some-id`]),
  '/v1/models/gpt-4o-mini',
  '/v1/responses/resp_1/cancel',
  '/openai/deployments/gpt-4o-mini/chat/completions',
  '/v1/unheard-of',
]
const METHODS = ['GET', 'POST', 'DELETE', 'PUT']

describeOnce('answers', backend => {
  test('are counted once, whatever they are', async () => {
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
      const known = new Set(PATHS.map(path => readPath(path)).map(target => (target ? routeOf(target) : 'other')))
      expect(routes.filter(route => !known.has(route))).toEqual([])
    } finally {
      await proxy.stop()
    }
  })
})

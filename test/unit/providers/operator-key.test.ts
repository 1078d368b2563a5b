import { expect, test, vi } from 'vitest'
import { createOperatorKeyGuard } from '../../../src/providers/operator-key.ts'
import type { Provider, UpstreamRequest } from '../../../src/providers/upstream.ts'

const request = { endpoint: 'chat' } as UpstreamRequest
const giving = (status: number, body = '{"error":"no"}'): Provider => ({
  name: 'openrouter',
  kind: 'aggregator',
  pricedAs: 'aggregator',
  ask: async () => ({
    status,
    headers: new Headers(),
    body: new Response(body).body ?? new ReadableStream(),
    mayStore: () => true,
  }),
})

test('an operator’s key that upstream refuses is a 502 for the tenant, and one warning for the operator', async () => {
  const log = { warn: vi.fn() }
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: true, log })
  for (const status of [401, 403, 401]) {
    await expect(guard(giving(status)).ask(request)).rejects.toMatchObject({
      ...{ status: 502, code: 'upstream_error', headers: { 'x-should-retry': 'false' } },
    })
  }
  expect(log.warn).toHaveBeenCalledExactlyOnceWith(
    { provider: 'openrouter', status: 401, setting: 'AGGREGATOR_API_KEY' },
    'upstream refuses the key of the operator',
  )
})

test.each([200, 400, 404, 429, 500])('status %i passes as it is', async status => {
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: true, log: { warn: vi.fn() } })
  const guarded = guard(giving(status))
  expect(guarded).toMatchObject({ name: 'openrouter', kind: 'aggregator', pricedAs: 'aggregator' })
  expect((await guarded.ask(request)).status).toBe(status)
})

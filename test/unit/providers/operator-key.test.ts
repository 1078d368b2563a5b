import { expect, test, vi } from 'vitest'
import { createOperatorKeyGuard } from '../../../src/providers/operator-key.ts'
import type { Provider, UpstreamRequest } from '../../../src/providers/upstream.ts'

const request = { endpoint: 'chat' } as UpstreamRequest
const giving = (status: number, body = '{"error":"no"}'): Provider => ({
  name: 'openrouter',
  kind: 'aggregator',
  pricedAs: 'aggregator',
  send: async () => ({
    status,
    headers: new Headers(),
    body: new Response(body).body ?? new ReadableStream(),
    isStorable: () => true,
  }),
})

test('an operator’s key that the upstream rejects is a 502 for the client, and one warning for the operator', async () => {
  const log = { warn: vi.fn() }
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: true, log })
  for (const status of [401, 403, 401]) {
    await expect(guard(giving(status)).send(request)).rejects.toMatchObject({
      ...{ status: 502, code: 'upstream_error', headers: { 'x-should-retry': 'false' } },
    })
  }
  expect(log.warn).toHaveBeenCalledExactlyOnceWith(
    { provider: 'openrouter', status: 401, setting: 'AGGREGATOR_API_KEY' },
    'upstream rejects the key of the operator',
  )
})

test.each([200, 400, 404, 429, 500])('forwards status %i unchanged', async status => {
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: true, log: { warn: vi.fn() } })
  const guarded = guard(giving(status))
  expect(guarded).toMatchObject({ name: 'openrouter', kind: 'aggregator', pricedAs: 'aggregator' })
  expect((await guarded.send(request)).status).toBe(status)
})

const FLAGGED = '{"error":{"code":403,"message":"Flagged","metadata":{"reasons":["violence"],"flagged_input":"How"}}}'

test('forwards a 403 about the request unchanged, without a warning', async () => {
  const log = { warn: vi.fn() }
  const answer = await createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: true, log })(
    giving(403, FLAGGED),
  ).send(request)
  expect([answer.status, await new Response(answer.body).text()]).toEqual([403, FLAGGED])
  expect(log.warn).not.toHaveBeenCalled()
})

test('reports an unexplained 403 without guesses to client and operator', async () => {
  const log = { warn: vi.fn() }
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: true, log })
  await expect(guard(giving(403)).send(request)).rejects.toThrow(
    'rejected this request, or the key of this service with status 403. The operator has been notified.',
  )
  expect(log.warn.mock.calls[0]?.[1]).toBe('upstream rejects a request, or the key of the operator')
})

test('without a key, a rejection names the setting', async () => {
  const log = { warn: vi.fn() }
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: false, log })
  for (const [status, body] of [[401], [403, '{"error":"Missing API key"}'], [403, 'Forbidden']] as const)
    await expect(guard(giving(status, body)).send(request)).rejects.toMatchObject({ status: 503 })
  expect((await guard(giving(403, FLAGGED)).send(request)).status).toBe(403)
})

import { beforeAll, describe, expect, test } from 'vitest'
import type { Scenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { BAD_BODIES } from './hostile/bad-bodies.ts'
import { BAD_FRAMING } from './hostile/bad-framing.ts'
import { BAD_HEADERS } from './hostile/bad-headers.ts'
import { BAD_KEYS } from './hostile/bad-keys.ts'
import { BAD_PATHS } from './hostile/bad-paths.ts'
import { BROKEN_JSON } from './hostile/broken-json.ts'
import { EXTREME_VALUES } from './hostile/extreme-values.ts'
import { chat, type HostileRequest, MARKER, write } from './hostile/hostile-request.ts'
import { createMemoryLog } from './hostile/memory-log.ts'
import { type RawExchange, type RawResponse, sendRaw } from './hostile/raw-http.ts'
import { WRONG_TYPES } from './hostile/wrong-types.ts'

const GROUPS = {
  'broken JSON': BROKEN_JSON,
  'wrong types': WRONG_TYPES,
  'extreme values': EXTREME_VALUES,
  'bad keys': BAD_KEYS,
  'bad headers': BAD_HEADERS,
  'bad framing': BAD_FRAMING,
  'bad paths and methods': BAD_PATHS,
  'bad bodies': BAD_BODIES,
}
/** Groups whose values can reach a store. */
const REACHES_STORES = ['extreme values', 'bad keys', 'bad headers']
/** Far longer than any time limit of the small proxy, for requests that hang, for example on a pattern that backtracks. */
const TIME_LIMIT_MS = 30_000
const INFO = 30

test('the set is as large as intended, and no two requests share a name', () => {
  const names = Object.values(GROUPS).flatMap(group => group.map(({ name }) => name))
  expect(names.length).toBeGreaterThan(400)
  expect(new Set(names).size).toBe(names.length)
})

describeBackends('hostile requests', backend => {
  const log = createMemoryLog()
  const answered = { test: 0, project: 0 }
  const keys = { test: '', project: '' }
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), log, environment: fakeProvider.environment }))
  const small = duringTests(() => {
    const limits = { MAX_BODY_BYTES: '4096', BODY_TIMEOUT_MS: '1500', TRUST_PROXY: '1' }
    return startProxy({ stores: proxy.stores, log, environment: { ...fakeProvider.environment, ...limits } })
  })

  beforeAll(async () => {
    fakeProvider.script({ kind: 'answer', content: 'Fine.', toolCalls: [] })
    keys.test = await proxy.createKey({ project: 'acme', type: 'test' })
    keys.project = await proxy.createKey({ project: 'acme', type: 'project' })
  })

  async function send(request: HostileRequest, type: 'test' | 'project'): Promise<RawExchange> {
    const { port } = request.isForSmallProxy ? small : proxy
    const exchange = await sendRaw({
      port,
      parts: request.send(keys[type]),
      responses: Math.max(1, request.statuses.length),
      timeLimitMs: TIME_LIMIT_MS,
    })
    answered[type] += exchange.responses.filter(({ status }) => status === 200).length
    return exchange
  }

  async function expectHealth(): Promise<void> {
    const answer = await ask(proxy, keys.test, 'Are you still there?')
    expect(answer.status).toBe(200)
    answered.test++
  }

  // Requests that are rejected before any store is read are rejected on all stores alike.
  const groups = Object.entries(GROUPS).filter(
    ([group]) => backend.name === 'embedded' || REACHES_STORES.includes(group),
  )
  const requests = draw(groups.flatMap(([group, each]) => each.map(request => ({ ...request, group }))))
  test.each(requests)('$group: $name', async request => {
    log.take()
    checkExchange(request, request.statuses, await send(request, 'test'))
    const { upstreamStatuses = request.statuses } = request
    if (upstreamStatuses) checkExchange(request, upstreamStatuses, await send(request, 'project'))
    await expectHealth()
    checkLog(log.take())
  })

  test('clients that disconnect in the middle of a body', async () => {
    log.take()
    const [head] = write({ framing: 'Content-Length: 500', body: '' })(keys.test)
    const leaving = Array.from({ length: 20 }, (_, i) =>
      sendRaw({ port: proxy.port, parts: [head ?? '', MARKER], responses: 1, timeLimitMs: 10 + i }),
    )
    const ends = await Promise.allSettled(leaving)
    expect(ends.every(end => end.status === 'rejected')).toBe(true)
    await expectHealth()
    checkLog(log.take())
  })

  test('only served requests are counted in the month', async () => {
    await proxy.settle()
    await small.settle()
    const rows = await proxy.query<{ key_type: string; requests: number }>(
      `select key_type, requests::integer from monthly_counters c join projects p on p.id = c.project_id
        where p.name = 'acme' order by key_type`,
    )
    expect(rows).toEqual([
      { key_type: 'project', requests: answered.project },
      { key_type: 'test', requests: answered.test },
    ])
    expect(answered.test).toBeGreaterThan(requests.length)
  })

  describe('an upstream that repeats the prompt', () => {
    const text = `data: ${MARKER}\n\n`
    const scenarios: Record<string, Scenario> = {
      'in an error': { kind: 'error', status: 400, message: MARKER },
      'in an error of its own doing': { kind: 'error', status: 500, message: MARKER, headers: { 'x-echo': MARKER } },
      'instead of JSON': { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [MARKER] },
      'in JSON that is no object': {
        kind: 'raw',
        headers: { 'content-type': 'application/json' },
        parts: [`"${MARKER}"`],
      },
      'in JSON that is no answer': {
        kind: 'raw',
        headers: { 'content-type': 'application/json' },
        parts: [`{"a":"${MARKER}"}`],
      },
      'in a redirect': { kind: 'raw', status: 307, headers: { location: `/${MARKER}` }, parts: [MARKER] },
      'in a stream that is none': { kind: 'raw', parts: [text, text] },
      'in a stream with an error': {
        kind: 'raw',
        parts: [`data: {"error":{"message":"${MARKER}","code":"${MARKER}"}}\n\n`],
      },
      'and breaks off': { kind: 'cut', after: 2 },
      'and hangs up': { kind: 'cut', after: 'nothing' },
    }
    test.each(Object.entries(scenarios))('%s', async (_, scenario) => {
      const key = await proxy.createKey({ type: 'project' })
      log.take()
      for (const stream of [false, true]) {
        fakeProvider.scriptOnce(scenario)
        await ask(proxy, key, chat({ stream }))
      }
      expect(fakeProvider.counts.total).toBeGreaterThan(0)
      const lines = log.take()
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.join('')).not.toContain(MARKER)
    })

    test('and embeds it', async () => {
      const embeddings = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(MARKER) })
      const embedding = await startProxy({
        stores: proxy.stores,
        log,
        environment: {
          ...fakeProvider.environment,
          EMBEDDINGS_BASE_URL: `http://127.0.0.1:${embeddings.port}/v1`,
          EMBEDDINGS_API_KEY: MARKER,
        },
      })
      log.take()
      const answer = await ask(embedding, await proxy.createKey({ type: 'project' }), chat())
      await embedding.stop()
      await embeddings.stop(true)
      expect([answer.status, answer.cache]).toEqual([200, 'MISS'])
      const lines = log.take()
      expect(lines.some(line => line.includes('could not be embedded'))).toBe(true)
      expect(lines.join('')).not.toContain(MARKER)
    })
  })

  test('no usage record repeats a prompt or a key', async () => {
    const rows = await proxy.query(`select * from usage_records`)
    expect(rows.length).toBeGreaterThan(100)
    expect(JSON.stringify(rows)).not.toContain(MARKER)
  })
})

function checkExchange(request: HostileRequest, statuses: readonly number[], exchange: RawExchange): void {
  const { responses, received, hungUp } = exchange
  expect(responses.map(({ status }) => status)).toEqual(statuses)
  if (statuses.length === 0) expect(hungUp).toBe(true)
  if (!statuses.includes(200)) expect(received).not.toContain(MARKER)
  for (const response of responses) {
    if (request.isRefusedByBun) expect(response.body).toBe('')
    else checkOurs(request, response)
  }
}

/** Checks the headers of every response of the proxy, and the envelope of every error. */
function checkOurs({ error: expected }: HostileRequest, { status, headers, body }: RawResponse): void {
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/)
  expect(headers.get('x-proxy-latency-ms')).toMatch(/^\d+\.\d{3}$/)
  expect(headers.get('x-injected')).toBe(null)
  if (status === 200 || body === '') return
  const { error } = JSON.parse(body)
  expect(error).toEqual({
    message: expect.any(String),
    type: status === 401 ? 'authentication_error' : 'invalid_request_error',
    param: error.param === null ? null : expect.any(String),
    code: expect.any(String),
  })
  if (expected) expect(error).toMatchObject(expected)
}

/** A client's mistake logs at most the request's own line, without its content. */
function checkLog(lines: readonly string[]): void {
  const text = lines.join('')
  expect(text).not.toContain(MARKER)
  // On a busy machine, any cache lookup may time out.
  const others = lines.filter(line => JSON.parse(line).cause !== 'TimeLimitExceeded')
  for (const line of others) expect(JSON.parse(line).level, line).toBeLessThanOrEqual(INFO)
}

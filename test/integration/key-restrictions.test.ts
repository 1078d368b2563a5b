/**
 * The models that a key may use and the addresses that may use it: enforced at every endpoint, from the next request on. Rejected requests
 * are not counted.
 */
import OpenAI, { toFile } from 'openai'
import { beforeEach, expect, test } from 'vitest'
import { allowedMethodsOf, resolveTarget, TARGETS_BY_PATH } from '../../src/http/paths.ts'
import type { RouteTarget } from '../../src/pipeline/request/request.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { describeOnce } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { GEMINI_PATHS, geminiBodyOf } from '../harness/gemini-paths.ts'
import { startProxy } from '../harness/proxy.ts'
import { COLLECTIONS, listObjectPaths } from '../harness/stored-object-paths.ts'
import { SEEDED_DETECTOR } from '../harness/vendors.ts'
import { sendRaw } from './hostile/raw-http.ts'

const upstreams = duringTests(startUpstreams)

/** Every path that requires a key, with each of its methods. */
const ROUTES = [
  ...Object.keys(TARGETS_BY_PATH),
  ...GEMINI_PATHS,
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/v1/${operation}`),
  '/v1/models/gpt-4o',
  ...COLLECTIONS.flatMap(name => listObjectPaths(name).map(path => `/v1${path}`)),
].flatMap(path => {
  const target = resolveTarget(path, SEEDED_DETECTOR)
  if (!target || target.kind === 'health' || target.kind === 'probe') return []
  return allowedMethodsOf(target).map(method => ({ path, method, target }))
})

/** The request's body names a model. */
const namesModel = ({ kind }: RouteTarget) => kind === 'endpoint' || kind === 'operation' || kind === 'count'

/** Gemini's paths name the model. */
const isGemini = (path: string) => path.includes('/v1beta/')

const HANDSHAKE = { 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.alloc(16).toString('base64') }
const BODY = {
  model: 'gpt-5',
  messages: [{ role: 'user', content: 'x' }],
  ...{ max_tokens: 5, prompt: 'x', input: 'x', voice: 'alloy', query: 'x', documents: ['x'] },
}

describeOnce('restricted keys', backend => {
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, TRUST_PROXY: '1' } }),
  )
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
  })

  const limit = (limits: object) =>
    proxy.query(`select set_key_limits(find_key('${key}'), '${JSON.stringify(limits)}')`)
  const send = async ({ path, method }: { path: string; method: string }, from = '192.0.2.7', body: object = BODY) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': from }
    const answer = await (path === '/v1/realtime'
      ? upgrade(headers)
      : fetch(new URL(path, proxy.baseUrl), {
          method,
          headers,
          ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
        }))
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, code: /"code": ?"(\w+)"/.exec(text)?.[1] ?? null }
  }
  /** Requests a WebSocket. */
  async function upgrade(headers: Record<string, string>): Promise<Response> {
    const head = { ...headers, host: 'x', connection: 'Upgrade', upgrade: 'websocket', ...HANDSHAKE }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    const parts = [`GET /v1/realtime?model=gpt-realtime HTTP/1.1\r\n${lines.join('')}\r\n`]
    const port = Number(new URL(proxy.baseUrl).port)
    const { responses } = await sendRaw({ port, parts, responses: 1, timeLimitMs: 10_000 })
    return new Response(responses[0]?.body, { status: responses[0]?.status ?? 0, headers: responses[0]?.headers ?? {} })
  }
  const chat = { path: '/v1/chat/completions', method: 'POST' }

  test('every kind of path is tested here', () => {
    const kinds = ['cache', 'count', 'endpoint', 'info', 'models', 'operation', 'realtime', 'stored_object']
    expect([...new Set(ROUTES.map(({ target }) => target.kind))].sort()).toEqual(kinds)
  })

  test('have no access from another address to any endpoint, and nothing is called or counted', async () => {
    await send(chat)
    upstreams.reset()
    await limit({ allowed_addresses: ['10.0.0.0/8', '2001:db8:0:1::7'], requests_per_minute: 1_000 })
    for (const route of draw(ROUTES)) {
      for (const from of ['192.0.2.7', '2001:db8:0:1::8']) {
        const answer = await send(route, from)
        expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, 403])
        // Errors under /v1/messages have no code.
        expect(answer.text).toContain(`This key may not be used from ${from}. Have an owner`)
      }
    }
    expect(upstreams.openai.requests).toEqual([])
    await proxy.settle()
    const counted = await proxy.query<{ requests: number }>(
      `select c.requests::integer as requests from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`,
    )
    expect(counted).toEqual([{ requests: 1 }])
    const inside = await send(chat, '10.1.2.3')
    expect([inside.status, inside.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '998'])
    for (const route of draw(ROUTES)) {
      for (const from of ['10.255.255.255', '2001:db8:0:1::7', '::ffff:10.0.0.1']) {
        expect((await send(route, from)).text).not.toContain('may not be used')
      }
    }
    await limit({ allowed_addresses: null })
    expect((await send(chat)).status).toBe(200)
  })

  test('a list that was just changed applies, in a process with an older record too', async () => {
    const other = await startProxy({
      stores: proxy.stores,
      environment: { ...upstreams.environment, TRUST_PROXY: '1' },
    })
    const sendFrom = async (from: string) =>
      (await ask(other, key, `x ${crypto.randomUUID()}`, { 'x-forwarded-for': from })).status
    try {
      for (const [network, from] of [
        ['10.0.0.0/8', '10.0.0.1'],
        ['192.0.2.0/24', '192.0.2.7'],
      ] as const) {
        await limit({ allowed_addresses: [network] })
        const statuses = await Promise.all(['10.0.0.1', '192.0.2.7'].map(sendFrom))
        expect(statuses).toEqual(['10.0.0.1', '192.0.2.7'].map(each => (each === from ? 200 : 403)))
      }
    } finally {
      await other.stop()
    }
  })

  test('have no access to another model, by the narrower of project and key', async () => {
    for (const [ofProject, ofKey, where] of [
      ['', ['gpt-4o*', 'whisper-1'], 'with this key: its limit allowed_models is gpt-4o*, whisper-1.'],
      ['gpt-5*, gpt-4o-mini', ['gpt-4o*'], 'with this key: its limit allowed_models is gpt-4o*.'],
      ['gpt-4o-mini', ['gpt-*'], 'in this project: its setting allowed_models is gpt-4o-mini.'],
    ] as const) {
      await proxy.query(`select set_setting('${project}', 'allowed_models', '${ofProject}')`)
      await limit({ allowed_models: ofKey })
      for (const route of ROUTES.filter(({ target }) => namesModel(target))) {
        const path = route.path.replace(/(?<=\/v1beta\/models\/).+(?=:)/, BODY.model)
        const { status, text } = await send({ ...route, path }, undefined, isGemini(path) ? geminiBodyOf(path) : BODY)
        expect([path, status, text]).toEqual([path, 403, expect.stringContaining(where)])
      }
      expect(await send({ path: '/v1/cache/explain', method: 'POST' })).toMatchObject({
        status: 403,
        code: 'model_not_allowed',
      })
      expect(await send({ path: '/v1/models/gpt-5', method: 'GET' })).toMatchObject({ status: 403 })
      expect((await send(chat, undefined, { ...BODY, model: 'gpt-4o-mini' })).status).toBe(200)
    }
    // All further requests were hits.
    expect(upstreams.openai.requests).toHaveLength(1)
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['gpt-4o-mini'])
    await limit({ allowed_models: null })
    expect((await send(chat, undefined, { ...BODY, model: 'gpt-4o-mini' })).status).toBe(200)
  })

  test('another key’s file does not extend the key’s models; a fallback, which the project chose, does', async () => {
    await proxy.query(`select set_setting('${project}', 'fallbacks', 'anthropic/claude-haiku-4.5')`)
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const line = { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { model: 'gpt-5' } }
    const file = await client.files.create({
      file: await toFile(Buffer.from(JSON.stringify(line)), 'in.jsonl'),
      purpose: 'batch',
    })
    await limit({ allowed_models: ['gpt-4o*'] })
    const start = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
    await expect(client.batches.create(start)).rejects.toThrow(
      '400 The file was uploaded before the project or its key',
    )
    const unread = await toFile(Buffer.from(JSON.stringify(line)), 'in.jsonl')
    await expect(client.files.create({ file: unread, purpose: 'batch' })).rejects.toThrow('403 Model "gpt-5" is not')
    upstreams.openai.script({ kind: 'error', status: 503 })
    const answer = await ask(proxy, key, { model: 'gpt-4o-mini', messages: [{ role: 'user', content: project }] })
    expect([answer.status, answer.json.model]).toEqual([200, 'anthropic/claude-haiku-4.5'])
  })

  test('a rotated key’s former value has the key’s state and restrictions', async () => {
    await limit({ allowed_models: ['gpt-4o'], allowed_addresses: ['10.0.0.0/8'], requests_per_minute: 7 })
    await proxy.query(`select set_key_log_content('${key}', 'sealed')`)
    await proxy.query(`select rotate_key(find_key('${key}'), '1 hour')`)
    const rows = await proxy.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(k) - '{id,key_hash,prefix,redacted_value,name,created_at,expires_at,last_used_at,replaced_by}'::text[] as row
      from api_keys k join projects p on p.id = k.project_id where p.name = '${project}'`,
    )
    expect(rows).toHaveLength(2)
    expect(rows[0]).toEqual(rows[1])
    expect(rows[0]?.row).toMatchObject({ log_content: 'sealed', requests_per_minute: 7, allowed_models: ['gpt-4o'] })
    await limit({ allowed_models: ['gpt-5'] })
    const [changed] = await proxy.query<{ all: boolean }>(
      `select bool_and(k.allowed_models = '{gpt-5}') as all from api_keys k join projects p on p.id = k.project_id where p.name = '${project}'`,
    )
    expect(changed?.all).toBe(true)
  })

  test.each([
    ['address "10.0.0.1/8" is not valid: use an address or a network without', { allowed_addresses: ['10.0.0.1/8'] }],
    ['address "10" is not valid', { allowed_addresses: ['10'] }],
    ['address "example.org" is not valid', { allowed_addresses: ['example.org'] }],
    ['address "::ffff:10.0.0.1" is not valid', { allowed_addresses: ['::ffff:10.0.0.1'] }],
    ['address "" is not valid', { allowed_addresses: [''] }],
    ['use 1 to 100 addresses or networks', { allowed_addresses: [] }],
    ['use 1 to 100 addresses or networks', { allowed_addresses: Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`) }],
    ['allowed_models is not valid: use at least one name', { allowed_models: [] }],
    ['up to 100 different model names', { allowed_models: ['a b'] }],
    ['requests_per_minute is not valid', { requests_per_minute: 0 }],
    ['tokens_per_minute is not valid', { tokens_per_minute: -1 }],
    ['requests_per_minute is not valid', { requests_per_minute: 'many' }],
  ])('%s, and nothing changes', async (problem, limits) => {
    await limit({ allowed_models: ['gpt-4o'], allowed_addresses: ['10.0.0.0/8'], requests_per_minute: 7 })
    await expect(limit(limits)).rejects.toThrow(problem)
    const [kept] = await proxy.query(
      `select requests_per_minute, allowed_models, allowed_addresses::text[] from api_keys where id = find_key('${key}')`,
    )
    expect(kept).toEqual({
      requests_per_minute: 7,
      allowed_models: ['gpt-4o'],
      allowed_addresses: ['10.0.0.0/8'],
    })
  })
})

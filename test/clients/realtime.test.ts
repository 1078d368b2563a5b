/**
 * Realtime sessions of OpenAI's classes through the proxy: admitted, relayed in both directions, counted, and recorded for each response.
 */
import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer, type Server } from 'node:tls'
import OpenAI from 'openai'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MAX_MESSAGE_BYTES } from '../../src/http/realtime.ts'
import { type Certificates, makeCertificates } from '../engines/redis-servers.ts'
import { ENDLESS, startRealtime } from '../fake-provider/realtime.ts'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { get, readAnswer } from '../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { openRealtimeSession } from '../harness/realtime-session.ts'

const MODEL = 'gpt-realtime'

describeOnce('realtime', backend => {
  const upstream = duringTests(() => startRealtime({ apiKey: 'sk-own' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: environment() }))
  let front: Server
  let project: string
  let key: string
  let certificates: Certificates

  beforeAll(async () => {
    certificates = await makeCertificates()
    front = await endTls(proxy.port)
  })
  beforeEach(async () => {
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    for (const noted of [upstream.opened, upstream.received, upstream.ended]) noted.length = 0
  })
  afterAll(async () => {
    front.close()
    rmSync(certificates.folder, { recursive: true })
  })

  const environment = () => ({ OPENAI_BASE_URL: upstream.baseUrl, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY })
  const address = (query = `?model=${MODEL}`) => `ws://127.0.0.1:${proxy.port}/v1/realtime${query}`

  const open = (apiKey = key, url = address(), headers: Record<string, string> = {}) =>
    openRealtimeSession(url, apiKey, headers)

  async function recorded() {
    await proxy.settle()
    return proxy.query<{ model: string; status: number; prompt: number; cached: number; answered: number }>(`
      select model, status, prompt_tokens as prompt, cached_prompt_tokens as cached, completion_tokens as answered
      from usage_records u join projects p on p.id = u.project_id
      where p.name = '${project}' and endpoint = 'realtime' order by prompt_tokens desc, status`)
  }

  async function counted(): Promise<number> {
    await proxy.settle()
    const [row] = await proxy.query<{ used: number }>(`
      select coalesce(sum(c.requests), 0)::integer as used from monthly_counters c
      join projects p on p.id = c.project_id where p.name = '${project}'`)
    return row?.used ?? 0
  }

  /** Runs one turn and closes the session. */
  async function converse(session: OpenAIRealtimeWS | OpenAIRealtimeWebSocket): Promise<string> {
    let text = ''
    const done = Promise.withResolvers<void>()
    session.on('error', done.reject)
    session.on('session.created', () => {
      session.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
    })
    session.on('session.updated', () => {
      const content = [{ type: 'input_text' as const, text: 'Hello?' }]
      session.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
      session.send({ type: 'response.create' })
    })
    session.on('response.output_text.delta', ({ delta }) => {
      text += delta
    })
    session.on('response.done', () => done.resolve())
    await done.promise
    session.close({ code: 4_001, reason: 'Bye.' })
    return text
  }

  async function expectOneTurn(): Promise<void> {
    expect(upstream.received.map(({ type }) => type)).toEqual([
      'session.update',
      'conversation.item.create',
      'response.create',
    ])
    await expect.poll(() => upstream.ended).toEqual([{ code: 4_001, reason: 'Bye.' }])
    expect(upstream.opened).toMatchObject([
      { path: `/v1/realtime?model=${MODEL}`, headers: { authorization: 'Bearer sk-own' } },
    ])
    expect(await recorded()).toMatchObject([
      { model: MODEL, status: 200, prompt: 1_000, cached: 200, answered: 500 },
      { model: MODEL, status: 200, prompt: 0 },
    ])
    // The session, and its response.
    expect(await counted()).toBe(2)
  }

  test('with OpenAIRealtimeWS: a turn of text, with the project’s own key', async () => {
    const { port } = front.address() as { port: number }
    const client = new OpenAI({ baseURL: `https://127.0.0.1:${port}/v1`, apiKey: key })
    const session = new OpenAIRealtimeWS({ model: MODEL, options: { rejectUnauthorized: false } }, client)
    expect(await converse(session)).toBe('Hello from here.')
    await expectOneTurn()
  })

  test('with OpenAIRealtimeWebSocket, whose key is sent as a subprotocol', async () => {
    const Native = globalThis.WebSocket
    // TLS ends in front of the proxy.
    globalThis.WebSocket = class extends Native {
      constructor(url: string, protocols?: string[]) {
        super(url.replace('wss:', 'ws:'), protocols)
      }
    } as typeof WebSocket
    try {
      const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, dangerouslyAllowBrowser: true })
      const session = new OpenAIRealtimeWebSocket({ model: MODEL, dangerouslyAllowBrowser: true }, client)
      expect(await converse(session)).toBe('Hello from here.')
      expect(session.socket.protocol).toBe('realtime')
    } finally {
      globalThis.WebSocket = Native
    }
    await expectOneTurn()
  })

  test('each response counts, and a failed one is refunded', async () => {
    const { send, has, socket, ended } = await open()
    for (const instructions of ['one', 'two', 'fail']) send({ type: 'response.create', response: { instructions } })
    await has('response.done', 3)
    socket.close(1000)
    await ended
    expect((await recorded()).map(({ status, prompt }) => [status, prompt])).toEqual([
      [200, 1_000],
      [200, 1_000],
      [200, 0],
      [502, 0],
    ])
    expect(await counted()).toBe(3)
  })

  test('audio is recorded at its own price, if the catalogue has one', async () => {
    const usage = {
      total_tokens: 900,
      input_tokens: 600,
      output_tokens: 300,
      input_token_details: { text_tokens: 100, audio_tokens: 500, cached_tokens: 0 },
      output_token_details: { text_tokens: 50, audio_tokens: 250 },
    }
    const loud = startRealtime({ apiKey: 'sk-own', usage })
    const other = await startProxy({
      stores: proxy.stores,
      environment: { ...environment(), OPENAI_BASE_URL: loud.baseUrl },
    })
    for (const model of ['gpt-realtime-2', 'gpt-realtime-of-tomorrow']) {
      const { send, has, socket, ended } = await open(key, `ws://127.0.0.1:${other.port}/v1/realtime?model=${model}`)
      send({ type: 'response.create' })
      await has('response.done')
      socket.close(1000)
      await ended
    }
    await other.settle()
    const costs = await proxy.query(`select u.model, u.cost_usd::float8 as usd from usage_records u
      join projects p on p.id = u.project_id where p.name = '${project}' and u.prompt_tokens > 0 order by u.cost_usd`)
    expect(costs).toEqual([
      { model: 'gpt-realtime-of-tomorrow', usd: 0 },
      { model: 'gpt-realtime-2', usd: expect.closeTo((100 * 4 + 500 * 32 + 50 * 24 + 250 * 64) / 1e6, 9) },
    ])
    await Promise.all([other.stop(), loud.stop()])
  })

  test('under one of several keys of the project', async () => {
    const name = `p-${crypto.randomUUID()}`
    const own = await proxy.createKey({ project: name, type: 'project' })
    for (const each of ['one', 'other'])
      await storeKey(proxy.stores, name, 'openai', 'sk-own', { name: each, weight: 1 })
    const { send, has, socket, ended } = await open(own)
    send({ type: 'response.create' })
    await has('response.done')
    socket.close(1000)
    await ended
    expect(upstream.opened).toMatchObject([{ headers: { authorization: 'Bearer sk-own' } }])
  })

  test('a key whose tokens per minute are used up gets no further response', async () => {
    await proxy.query(`select set_key_limits(find_key('${key}'), '{"tokens_per_minute": 1000}')`)
    const { send, has, ended, events } = await open()
    send({ type: 'response.create' })
    await has('response.done')
    await proxy.settle()
    send({ type: 'response.create' })
    expect((await ended).code).toBe(1008)
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ error: { type: 'tokens' } })
    expect(await counted()).toBe(2)
  })

  test('a deactivated key gets no further response', async () => {
    const { send, has, ended, events } = await open()
    send({ type: 'response.create' })
    await has('response.done')
    await proxy.query(`select deactivate_key('${key.slice(0, 17)}')`)
    send({ type: 'response.create' })
    expect((await ended).code).toBe(1008)
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ error: { code: 'api_key_disabled' } })
  })

  describe('a close', () => {
    test.each([
      [4_000, 'Enough.'],
      [1000, ''],
      [1001, 'Going away.'],
    ])('of the provider with %d reaches the client', async (code, reason) => {
      const { has, ended } = await open()
      await has('session.created')
      upstream.close(code, reason)
      expect(await ended).toEqual({ code, reason })
    })

    test('that breaks off is reported as an error, and the response in flight is not counted', async () => {
      const { send, has, ended, events } = await open()
      send({ type: 'response.create', response: { instructions: ENDLESS } })
      await has('response.output_text.delta', 3)
      upstream.close()
      expect((await ended).code).toBe(1011)
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { message: expect.stringContaining('broke off') } })
      expect(await counted()).toBe(1)
    })

    test('of the client closes the provider’s side, and the response in flight counts', async () => {
      const { send, has, socket } = await open()
      send({ type: 'response.create', response: { instructions: ENDLESS } })
      await has('response.output_text.delta', 3)
      socket.close(4_002, 'Left.')
      await expect.poll(() => upstream.ended).toEqual([{ code: 4_002, reason: 'Left.' }])
      await expect.poll(counted).toBe(2)
      // The response was cancelled and reported its usage until then.
      expect(upstream.received.at(-1)).toMatchObject({ type: 'response.cancel' })
      expect((await recorded()).map(({ status, prompt }) => [status, prompt])).toEqual([
        [499, 1_000],
        [200, 0],
      ])
    })
  })

  describe('an event', () => {
    test.each([
      ['that is no JSON', 'x', 'could not parse'],
      ['that is no object', '[]', 'must be a JSON object'],
      ['that has a key twice', '{"type":"response.create","type":"x"}', 'same key twice'],
    ])('%s is rejected, and not forwarded', async (_, text, named) => {
      const { socket, has, events } = await open()
      socket.send(text)
      await has('error')
      expect(events.at(-1)).toMatchObject({ error: { message: expect.stringContaining(named) } })
      expect(upstream.received).toEqual([])
    })

    test('names no other project’s prompt', async () => {
      const other = `p-${crypto.randomUUID()}`
      await storeKeyOf(other)
      const mine = await open()
      const theirs = await open(await proxy.createKey({ project: other, type: 'project' }))
      const event = {
        type: 'session.update',
        event_id: 'e1',
        session: { type: 'realtime', prompt: { id: `p_${other}` } },
      }
      mine.send(event)
      await mine.has('session.updated')
      theirs.send(event)
      await theirs.has('error')
      expect(theirs.events.at(-1)).toMatchObject({ error: { event_id: 'e1', param: 'session.prompt' } })
      // `none` and `auto` are not ids of conversations.
      for (const conversation of ['none', 'auto']) theirs.send({ type: 'response.create', response: { conversation } })
      await theirs.has('response.done', 2)
      for (const { socket } of [mine, theirs]) socket.close()
    })

    test('of some length keeps its order; one that is too long ends the session', async () => {
      const { send, has, ended } = await open()
      const audio = 'A'.repeat(1_000_000)
      for (const n of [1, 2, 3])
        send({ type: 'input_audio_buffer.append', event_id: `e${n}`, audio: n === 2 ? '' : audio })
      send({ type: 'response.create' })
      await has('response.done')
      expect(upstream.received.map(({ event_id }) => event_id)).toEqual(['e1', 'e2', 'e3', expect.any(String)])
      send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(MAX_MESSAGE_BYTES) })
      expect([1006, 1009]).toContain((await ended).code)
      await expect.poll(() => upstream.ended.length).toBe(1)
    })
  })

  async function storeKeyOf(name: string): Promise<void> {
    await proxy.createKey({ project: name, type: 'project' })
    await storeKey(proxy.stores, name, 'openai', 'sk-own')
  }

  test('of several provider keys, a session’s record names the one with which it was opened', async () => {
    await storeKey(proxy.stores, project, 'openai', 'sk-own', { name: 'second' })
    const { has, socket, ended } = await open()
    await has('session.created')
    socket.close()
    await ended
    await recorded()
    const rows = await proxy.query(`select provider_keys, attempts from usage_records u
      join projects p on p.id = u.project_id where p.name = '${project}' and endpoint = 'realtime'`)
    const named = expect.stringMatching(/^(default|second)$/)
    expect(Array.from(rows)).toEqual([{ provider_keys: named, attempts: 1 }])
  })

  test('a session’s tags are recorded with it and with each response', async () => {
    const { send, has, socket, ended } = await open(key, address(), { 'x-proxy-tags': 'team=voice' })
    send({ type: 'response.create' })
    await has('response.done')
    socket.close()
    await ended
    await recorded()
    const tags = await proxy.query(`select tags from usage_records u join projects p on p.id = u.project_id
      where p.name = '${project}' and endpoint = 'realtime'`)
    expect(Array.from(tags)).toEqual(Array(2).fill({ tags: { team: 'voice' } }))
  })

  test('a session that cannot be opened is rejected before the upgrade', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': btoa('0123456789abcdef') }
    const ask = async (apiKey: string | undefined, query: string, headers: Record<string, string> = {}) => {
      const response = await get(proxy, `/realtime${query}`, apiKey, {
        headers: { ...upgrade, 'sec-websocket-version': '13', ...headers },
      })
      const { status, json } = await readAnswer(response)
      return [status, json.error.code]
    }
    const query = `?model=${MODEL}`
    const plain = await readAnswer(await get(proxy, `/realtime${query}`, key))
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket'])
    expect(await ask(undefined, query)).toEqual([401, 'missing_api_key'])
    expect(await ask('lgw_proj_unknown', query)).toEqual([401, 'invalid_api_key'])
    expect(await ask(key, '')).toEqual([400, 'invalid_request_error'])
    expect(await ask(await proxy.createKey({ project }), query)).toEqual([404, 'unsupported_endpoint'])
    expect((await ask(await proxy.createKey({ type: 'project' }), query))[0]).toBe(404)
    await proxy.query(`select set_budget('${project}', 'usd', 100, 'month')`)
    expect(await ask(key, query)).toEqual([400, 'model_not_priced'])
    expect(upstream.opened).toEqual([])
    await proxy.query(`select set_budget('${project}', 'usd', null, 'month')`)
    await proxy.query(`select set_budget('${project}', 'usd', 100, 'month', of_tag => 'team=voice')`)
    expect(await ask(key, query, { 'x-proxy-tags': 'team=voice' })).toEqual([400, 'model_not_priced'])
    expect(await ask(key, query, { 'x-proxy-tags': 'team' })).toEqual([400, 'invalid_request_error'])
    expect(upstream.opened).toEqual([])
    await proxy.query(`select set_budget('${project}', 'usd', null, 'month', of_tag => 'team=voice')`)
    await storeKey(proxy.stores, project, 'openai', 'sk-refused')
    const refused = await proxy.createKey({ project: 'refused', type: 'project' })
    await storeKey(proxy.stores, 'refused', 'openai', 'sk-refused')
    expect((await ask(refused, query))[0]).toBe(502)
    expect(await counted()).toBe(0)
  })

  test('a stopping process lets a response end, and starts no other', async () => {
    const stopping = await startProxy({ stores: proxy.stores, environment: environment() })
    const own = (await stopping.createKey({ project, type: 'project' })) as string
    const url = `ws://127.0.0.1:${stopping.port}/v1/realtime?model=${MODEL}`
    const [idle, busy] = [await open(own, url), await open(own, url)]
    await Promise.all([idle.has('session.created'), busy.has('session.created')])
    busy.send({ type: 'response.create', response: { instructions: ENDLESS } })
    await busy.has('response.output_text.delta', 3)
    stopping.beginDrain()
    expect((await idle.ended).code).toBe(1001)
    expect(busy.socket.readyState).toBe(WebSocket.OPEN)
    const [created] = busy.events.filter(({ type }) => type === 'response.created')
    upstream.send({ type: 'response.done', response: { ...(created?.response as object), status: 'completed' } })
    expect((await busy.ended).code).toBe(1001)
    await stopping.stop()
  })

  test('a session ends when its last response is recorded, however long the database takes', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let isHeld = false
    const database: Stores['database'] = {
      ...proxy.stores.database,
      async call(text, values) {
        if (isHeld && text.includes('admit(')) await released
        return proxy.stores.database.call(text, values)
      },
    }
    const held = await startProxy({
      stores: { ...proxy.stores, database },
      environment: environment(),
      databaseTimeoutMs: 60_000,
    })
    const session = await open(key, `ws://127.0.0.1:${held.port}/v1/realtime?model=${MODEL}`)
    await session.has('session.created')
    isHeld = true
    session.send({ type: 'response.create' })
    await session.has('response.done')
    await session.close()
    // A whole session of another proxy on the same event loop.
    const other = await open()
    await other.has('session.created')
    await other.close()
    await expect.poll(() => upstream.ended.length).toBeGreaterThan(0)
    expect(upstream.ended).toHaveLength(1)
    release()
    await expect.poll(() => upstream.ended.length).toBe(2)
    await held.settle()
    expect((await recorded()).map(({ prompt, answered }) => [prompt, answered])).toEqual([
      [1_000, 500],
      [0, 0],
      [0, 0],
    ])
    await held.stop()
  })

  /** Ends TLS in front of the proxy, as a reverse proxy does. OpenAI's classes always use TLS. */
  async function endTls(port: number): Promise<Server> {
    const { key, cert } = certificates
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, socket => {
      const behind = connect(port, '127.0.0.1')
      socket.pipe(behind).pipe(socket)
      for (const each of [socket, behind]) each.on('error', () => each.destroy())
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return server
  }
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packExtras } from '../../src/formats/chat/provider-extras.ts'
import { recordEntryPolicy } from '../../src/postgres/store-cached-responses.ts'
import { createMetrics, formatExposition } from '../../src/telemetry/metrics.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { type Backend, describeBackends, describeReal, openBus } from '../harness/backends.ts'
import { question, textOf } from '../harness/chat.ts'
import { type Answer, ask, get, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { type RecordedHookRequest, startHook, type TestHook } from '../harness/hook.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const CARD = '4111 1111 1111 1111'
const MODEL = 'gpt-4o-mini'
const chat = (content: string, more = {}) => ({ ...question(content), model: MODEL, ...more })

const refusing = (type: RecordedHookRequest['type'], message?: string) => (call: RecordedHookRequest) =>
  call.type === type ? { verdict: 'refuse', message, policy: '1' } : { verdict: 'allow', policy: '1' }

interface Setup {
  hook: TestHook
  upstreams: Upstreams
  proxy: TestProxy
  project: string
  key: string
  metrics: ReturnType<typeof createMetrics>
}

/** Sets up a proxy with a hook, and a new project for each test. */
function setUp(backend: Backend, environment: Record<string, string> = {}): Setup {
  const setup = { metrics: createMetrics() } as Setup
  beforeAll(async () => {
    setup.hook = startHook()
    setup.upstreams = await startUpstreams()
    setup.proxy = await startProxy({
      stores: await backend.open(),
      environment: {
        ...setup.upstreams.environment,
        UPSTREAM_MAX_RETRIES: '0',
        ...setup.hook.environment,
        ...environment,
      },
      metrics: setup.metrics,
    })
  })
  beforeEach(async () => {
    setup.project = `p-${crypto.randomUUID().slice(0, 8)}`
    setup.key = await setup.proxy.createKey({ project: setup.project, type: 'project' })
    await storeKey(setup.proxy.stores, setup.project, 'openai', 'sk-openai-secret-key')
    setup.hook.reset()
    setup.upstreams.reset()
  })
  afterAll(async () => {
    await setup.proxy.stop()
    await Promise.all([setup.upstreams.stop(), setup.hook.stop()])
  })
  return setup
}

const codeOf = ({ status, json }: Answer) => `${status} ${json?.error?.code}`
const countCalls = ({ upstreams }: Setup) => upstreams.openai.requests.length

async function recordOf({ proxy }: Setup, { headers }: Answer) {
  await proxy.settle()
  const [record] = await proxy.query<Record<string, unknown>>(
    `select status, cost_usd::float as cost_usd, error_code, error_message, cache_result, prompt_tokens
     from usage_records where request_id = '${headers.get('x-request-id')}'`,
  )
  return record
}

async function counted({ proxy, project }: Setup): Promise<number> {
  await proxy.settle()
  const [row] = await proxy.query<{ requests: number }>(
    `select coalesce(sum(m.requests), 0)::integer as requests from monthly_counters m
     join projects p on p.id = m.project_id where p.name = '${project}'`,
  )
  return row?.requests ?? 0
}

describeBackends('a hook', backend => {
  describe('that decides', () => {
    const setup = setUp(backend)

    test('is called before and after, with caller and request, without the key', async () => {
      const { hook, proxy, key } = setup
      const answer = await ask(proxy, key, chat('Hello?', { user: 'alice' }))
      expect(answer.status, answer.text).toBe(200)
      const [before, after] = hook.requests
      expect(before).toMatchObject({
        type: 'before',
        request_id: answer.headers.get('x-request-id'),
        operation: 'chat',
        model: MODEL,
        user: 'alice',
        request: { messages: [{ role: 'user', content: 'Hello?' }] },
      })
      expect(before?.project.id).toMatch(/^proj_\d+$/)
      expect(before?.key.id).toMatch(/^key_\d+$/)
      expect(after).toMatchObject({ ...before, type: 'after', stored: false, answer: answer.json })
      expect(hook.requests).toHaveLength(2)
      for (const body of hook.bodies) {
        expect(body).not.toContain(key)
        expect(body).not.toContain('sk-openai')
      }
    })

    test('rejects a request before it is forwarded: it costs nothing, does not count, and no record quotes it', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(refusing('before', `Do not send ${CARD}\u0007.`))
      const refused = await ask(proxy, key, chat(`Pay with ${CARD}`))
      expect(codeOf(refused)).toBe('400 request_refused')
      expect(refused.json.error.message).toBe(`Do not send ${CARD} .`)
      expect(countCalls(setup)).toBe(0)
      expect(await counted(setup)).toBe(0)
      const record = await recordOf(setup, refused)
      expect(record).toMatchObject({ status: 400, cost_usd: 0, error_code: 'request_refused', error_message: null })
      expect(formatExposition(setup.metrics.snapshot())).not.toContain(CARD)
      expect(formatExposition(setup.metrics.snapshot())).toContain(
        'model_proxy_hook_verdicts_total{when="before",verdict="refuse"}',
      )
    })

    test('rejects a response, which is charged and not stored', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(refusing('after'))
      const refused = await ask(proxy, key, chat('What is the number?'))
      expect(codeOf(refused)).toBe('400 answer_refused')
      expect(await recordOf(setup, refused)).toMatchObject({ status: 400, error_code: 'answer_refused' })
      expect((await recordOf(setup, refused))?.cost_usd).toBeGreaterThan(0)
      expect(await counted(setup)).toBe(1)
      hook.reset()
      const again = await ask(proxy, key, chat('What is the number?'))
      expect(again.cache).toBe('MISS')
      expect(countCalls(setup)).toBe(2)
    })

    test('is called before a hit, too', async () => {
      const { hook, proxy, key } = setup
      await ask(proxy, key, chat('Twice?'))
      expect((await ask(proxy, key, chat('Twice?'))).cache).toBe('HIT')
      expect(hook.requests.map(({ type }) => type)).toEqual(['before', 'after', 'before'])
      hook.setDecision(refusing('before'))
      expect(codeOf(await ask(proxy, key, chat('Twice?')))).toBe('400 request_refused')
      expect(countCalls(setup)).toBe(1)
    })

    test('is called again for a cached response once its policy has changed, and not a second time', async () => {
      const { hook, proxy, key } = setup
      await ask(proxy, key, chat('Again?'))
      hook.setDecision(() => ({ verdict: 'allow', policy: '2' }))
      hook.requests.length = 0
      expect((await ask(proxy, key, chat('Again?'))).cache).toBe('HIT')
      expect(hook.requests.map(({ type, stored }) => [type, stored])).toEqual([
        ['before', undefined],
        ['after', true],
      ])
      await waitUntil('the row has the new policy', async () => (await policies(setup)).join() === '2')
      expect((await ask(proxy, key, chat('Again?'))).cache).toBe('HIT')
      expect(hook.requests).toHaveLength(3)
      // Another process reads the new policy from the copy of the entry.
      const environment = { ...setup.upstreams.environment, ...hook.environment }
      const other = await startProxy({ stores: proxy.stores, environment })
      expect((await ask(other, key, chat('Again?'))).cache).toBe('HIT')
      await other.stop()
      expect(hook.requests.slice(3).map(({ type }) => type)).toEqual(['before'])
      expect(countCalls(setup)).toBe(1)
    })

    test('a cached response that a new policy rejects is deleted, and the provider is called', async () => {
      const { hook, proxy, key } = setup
      setup.upstreams.openai.scriptOnce({ kind: 'answer', content: CARD }, { kind: 'answer', content: 'no number' })
      expect(textOf(await ask(proxy, key, chat('Which number?')))).toBe(CARD)
      hook.setDecision(({ type, answer }) => ({
        verdict: type === 'after' && JSON.stringify(answer).includes(CARD) ? 'refuse' : 'allow',
        policy: '2',
      }))
      const fresh = await ask(proxy, key, chat('Which number?'))
      expect([fresh.cache, textOf(fresh)]).toEqual(['MISS', 'no number'])
      const hit = await ask(proxy, key, chat('Which number?'))
      expect([hit.cache, textOf(hit)]).toEqual(['HIT', 'no number'])
      await proxy.settle()
      const [row] = await proxy.query<{ entries: number }>(
        `select count(*)::integer as entries from cache_entries where response like '%${CARD}%'`,
      )
      expect(row?.entries).toBe(0)
    })

    test('receives sealed responses decrypted, and rejected ones are deleted', async () => {
      const { hook, proxy, project, key } = setup
      await proxy.query(`select set_setting('${project}', 'seal_answers', 'on')`)
      setup.upstreams.openai.scriptOnce({ kind: 'answer', content: CARD }, { kind: 'answer', content: 'no number' })
      await ask(proxy, key, chat('Sealed?'))
      await proxy.settle()
      hook.setDecision(({ type, answer }) => ({
        verdict: type === 'after' && JSON.stringify(answer).includes(CARD) ? 'refuse' : 'allow',
        policy: '2',
      }))
      hook.requests.length = 0
      expect(textOf(await ask(proxy, key, chat('Sealed?')))).toBe('no number')
      expect(hook.requests.filter(({ type }) => type === 'after').map(({ stored }) => stored)).toEqual([true, false])
      await proxy.settle()
      const stored = await proxy.query<{ is_sealed: boolean; policy: string }>(
        `select starts_with(response, E'\\x01') as is_sealed, policy from cache_entries where project_id = find_project('${project}')`,
      )
      expect(stored).toEqual([{ is_sealed: true, policy: '2' }])
    })

    test('is called for a cached response found in other words, or only in PostgreSQL, as well', async () => {
      const { hook, proxy, key } = setup
      const words = 'Explain how photosynthesis works in the leaves of green plants'
      await ask(proxy, key, chat(words))
      await proxy.settle()
      await proxy.query("update cache_entries set policy = 'other'")
      hook.setDecision(({ type }) => ({ verdict: type === 'after' ? 'refuse' : 'allow', policy: '2' }))
      const refused = await ask(proxy, key, chat(`Could you please ${words.toLowerCase()}?`))
      // The provider's response to the repeated request is rejected too.
      expect(codeOf(refused)).toBe('400 answer_refused')
      expect(hook.requests.filter(({ stored }) => stored === true)).toHaveLength(1)
      expect(countCalls(setup)).toBe(2)
      hook.reset()
      expect((await ask(proxy, key, chat(words))).cache).toBe('MISS')
    })

    test('is called for a response in flight that passed under another policy than that of a waiting request', async () => {
      const { hook, proxy, key } = setup
      const content = 'In flight?'
      setup.upstreams.openai.scriptOnce({ kind: 'answer', content: CARD, firstByteDelayMs: 500 })
      setup.upstreams.openai.script({ kind: 'answer', content: 'fresh' })
      let leader = ''
      hook.setDecision(({ request_id, type, stored }) => {
        leader ||= request_id
        const isLeader = request_id === leader
        return { verdict: stored && type === 'after' ? 'refuse' : 'allow', policy: isLeader ? '1' : '2' }
      })
      const first = ask(proxy, key, chat(content))
      await waitUntil('the request reaches the provider', () => countCalls(setup) === 1)
      const second = await ask(proxy, key, chat(content))
      expect([textOf(await first), textOf(second)]).toEqual([CARD, 'fresh'])
      expect(countCalls(setup)).toBe(2)
    })

    test('records the policy only for the very response that passed', async () => {
      const { proxy, key } = setup
      await ask(proxy, key, chat('Stamped?'))
      await proxy.settle()
      const [row] = await proxy.query<{ project_id: number; hash: string; response: string }>(
        "select project_id::integer, encode(request_hash, 'hex') as hash, response from cache_entries order by id desc limit 1",
      )
      if (!row) throw new Error('no response is stored')
      const stamp = (body: string) =>
        recordEntryPolicy(proxy.stores.database, {
          projectId: row.project_id,
          requestHash: row.hash,
          body: Buffer.from(body),
          policy: '7',
        })
      await stamp(`${row.response} `)
      expect(await policies(setup)).toEqual(['1'])
      await stamp(row.response)
      expect(await policies(setup)).toEqual(['7'])
    })

    test('a response that must not be stored is served once', async () => {
      const { hook, proxy, key } = setup
      for (const when of ['before', 'after']) {
        hook.setDecision(({ type }) => ({ verdict: type === when ? 'no-store' : 'allow', policy: '1' }))
        expect((await ask(proxy, key, chat(`Once, ${when}?`))).cache).toBe('MISS')
        expect((await ask(proxy, key, chat(`Once, ${when}?`))).cache).toBe('MISS')
      }
      expect(countCalls(setup)).toBe(4)
    })

    test('a rejected request supersedes no version of cached responses', async () => {
      const { hook, proxy, key } = setup
      const sendUnder = (version: string) => ask(proxy, key, chat('Which one?'), { 'x-proxy-cache-version': version })
      expect((await sendUnder('docs@1')).cache).toBe('MISS')
      hook.setDecision(refusing('before'))
      expect(codeOf(await sendUnder('docs@2'))).toBe('400 request_refused')
      hook.setDecision(() => ({ verdict: 'allow', policy: '1' }))
      expect((await sendUnder('docs@1')).cache).toBe('HIT')
    })

    test('a response of a fallback that must not be stored is served once', async () => {
      const { hook, proxy, project, key, upstreams } = setup
      await proxy.query(`select set_settings('${project}', '{"fallbacks": "gpt-4o"}')`)
      upstreams.openai.script(({ body }) =>
        (body as { model: string }).model === 'gpt-4o' ? { kind: 'answer' } : { kind: 'error', status: 503 },
      )
      hook.setDecision(({ type }) => ({ verdict: type === 'before' ? 'no-store' : 'allow', policy: '1' }))
      for (let times = 0; times < 2; times++) {
        const { cache, headers } = await ask(proxy, key, chat('Once, by another?'))
        expect([cache, headers.get('x-proxy-model')]).toEqual(['MISS', 'gpt-4o'])
      }
      expect(countCalls(setup)).toBe(4)
    })

    test('a stream waits until its response has passed; of a rejected one, nothing is sent', async () => {
      const { hook, proxy, key } = setup
      setup.upstreams.openai.script({ kind: 'answer', content: `The number is ${CARD}` })
      const { promise, resolve } = Promise.withResolvers<Response>()
      hook.setDecision(({ type }) => (type === 'before' ? { verdict: 'allow', policy: '1' } : promise))
      const sent = post(proxy, key, '/chat/completions', chat('Slowly?', { stream: true }))
      const first = await Promise.race([sent.then(() => 'sent'), waitForResponseCheck(hook).then(() => 'asked')])
      expect(first).toBe('asked')
      resolve(Response.json({ verdict: 'allow', policy: '1' }))
      const whole = await readAnswer(await sent)
      expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      expect(textOf(whole)).toBe(`The number is ${CARD}`)
      expect((await ask(proxy, key, chat('Slowly?', { stream: true }))).cache).toBe('HIT')

      hook.setDecision(refusing('after'))
      const refused = await ask(proxy, key, chat('Now?', { stream: true }))
      expect(codeOf(refused)).toBe('400 answer_refused')
      expect(refused.text).not.toContain('4111')
      expect((await recordOf(setup, refused))?.cost_usd).toBeGreaterThan(0)
    })

    test('a stream that breaks off while it waits is an error, with its possible cost, and another model may respond', async () => {
      const { hook, proxy, key, upstreams } = setup
      upstreams.openai.scriptOnce({ kind: 'cut', after: 2 })
      const broken = await ask(proxy, key, chat('Cut?', { stream: true }))
      expect(broken.status).toBe(502)
      expect((await recordOf(setup, broken))?.cost_usd).toBeGreaterThan(0)
      await proxy.query(`select set_setting('${setup.project}', 'fallbacks', 'gpt-4o')`)
      hook.requests.length = 0
      upstreams.openai.scriptOnce({ kind: 'cut', after: 2 }, { kind: 'answer', content: 'instead' })
      const instead = await ask(proxy, key, chat('Cut again?', { stream: true }))
      expect([textOf(instead), instead.headers.get('x-proxy-model')]).toEqual(['instead', 'gpt-4o'])
      expect(hook.requests.map(({ type }) => type)).toEqual(['before', 'after'])
      expect(await recordOf(setup, instead)).toMatchObject({ status: 200 })
    })

    test('requests that wait for the same response get it when it has passed, and nothing of a rejected one', async () => {
      const { hook, proxy, key } = setup
      const before = hook.requests.length
      setup.upstreams.openai.script(async () => {
        await waitUntil('all requests reach the hook', () => hook.requests.length >= before + 8)
        // The delay is long enough for admitted requests to join.
        return { kind: 'answer', content: CARD, firstByteDelayMs: 100 }
      })
      hook.setDecision(refusing('after'))
      const all = (content: string) =>
        Promise.all(Array.from({ length: 8 }, (_, i) => ask(proxy, key, chat(content, { stream: i % 2 === 0 }))))
      for (const { status, text } of await all('Together?')) {
        expect(status).toBe(400)
        expect(text).not.toContain('4111')
      }
      // A follower retries once.
      expect(countCalls(setup)).toBeLessThanOrEqual(2)
      hook.reset()
      setup.upstreams.openai.reset()
      setup.upstreams.openai.script({ kind: 'answer', content: 'passed', firstByteDelayMs: 300 })
      expect((await all('Once more?')).map(textOf)).toEqual(Array(8).fill('passed'))
      expect(countCalls(setup)).toBe(1)
      expect(hook.requests.filter(({ type }) => type === 'after')).toHaveLength(1)
    })

    test('is called for every kind of request, and for responses with text', async () => {
      const { hook, proxy, key } = setup
      const endpoints: [path: string, body: Record<string, unknown>, operation: string, answers: boolean][] = [
        ['/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Well?' }, 'completions', true],
        ['/responses', { model: MODEL, input: 'Well?' }, 'responses', true],
        [
          '/messages',
          { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Well?' }] },
          'messages',
          true,
        ],
        ['/embeddings', { model: 'text-embedding-3-small', input: 'Well?' }, 'embeddings', false],
        ['/moderations', { model: 'omni-moderation-latest', input: 'Well?' }, 'moderations', false],
        ['/images/generations', { model: 'gpt-image-1', prompt: 'Well?' }, 'images/generations', true],
        ['/audio/speech', { model: 'tts-1', voice: 'alloy', input: 'Well?' }, 'audio/speech', false],
        ['/cache/explain', chat('Well?'), 'chat', false],
        ['/responses/input_tokens', { model: MODEL, input: 'Well?' }, 'responses', false],
      ]
      for (const [path, body, operation, answers] of endpoints) {
        hook.reset()
        const response = await post(proxy, key, path, body)
        expect(response.status, `${path} ${await response.text()}`).toBe(200)
        const types = hook.requests.map(({ type }) => type)
        expect([path, ...types]).toEqual([path, 'before', ...(answers ? ['after'] : [])])
        expect(hook.requests[0]?.operation).toBe(operation)
        expect(JSON.stringify(hook.requests[0]?.request)).toContain('Well?')
        hook.setDecision(refusing('before'))
        expect(codeOf(await readAnswer(await post(proxy, key, path, body)))).toContain('400')
      }
    })

    test('receives the texts of a form, and a transcript', async () => {
      const { hook, proxy, key } = setup
      const form = new FormData()
      form.set('model', 'whisper-1')
      form.set('prompt', `Names: ${'Ada '.repeat(5_000)}`)
      form.set('file', new File([new Uint8Array(2_000)], 'speech.mp3'))
      const headers = { authorization: `Bearer ${key}` }
      const sent = { method: 'POST', headers, body: form }
      const response = await fetch(`${proxy.baseUrl}/audio/transcriptions`, sent)
      expect(response.status, await response.clone().text()).toBe(200)
      expect(hook.requests[0]?.request).toEqual({ model: 'whisper-1', prompt: form.get('prompt') })
      expect(hook.requests[1]).toMatchObject({ type: 'after', answer: await response.json() })
      hook.setDecision(refusing('after'))
      expect(codeOf(await readAnswer(await fetch(`${proxy.baseUrl}/audio/transcriptions`, sent)))).toBe(
        '400 answer_refused',
      )
    })

    test('is called for each line of a batch’s file, and for a message batch, before a provider gets them', async () => {
      const { hook, proxy, key, upstreams } = setup
      await storeKey(proxy.stores, setup.project, 'anthropic', 'sk-ant-key')
      const line = (content: string, i: number) =>
        JSON.stringify({ custom_id: `${i}`, method: 'POST', url: '/v1/chat/completions', body: chat(content) })
      const upload = () => {
        const form = new FormData()
        form.set('purpose', 'batch')
        form.set('file', new File([`${line('One?', 1)}\n\n${line(CARD, 3)}\n`], 'input.jsonl'))
        const sent = { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form }
        return fetch(`${proxy.baseUrl}/files`, sent).then(readAnswer)
      }
      const start = () => {
        const params = { model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user', content: CARD }] }
        const headers = { 'anthropic-version': '2023-06-01' }
        return post(proxy, key, '/messages/batches', { requests: [{ custom_id: 'a', params }] }, { headers }).then(
          readAnswer,
        )
      }
      hook.setDecision(({ request }) => ({
        verdict: JSON.stringify(request).includes(CARD) ? 'refuse' : 'allow',
        message: 'No.',
      }))
      const refused = await upload()
      expect([codeOf(refused), refused.json.error.message]).toEqual(['400 request_refused', 'Line 3 of the file: No.'])
      expect(hook.requests.map(({ operation, request }) => [operation, request.custom_id]).toSorted()).toEqual([
        ['files', '1'],
        ['files', '3'],
      ])
      expect((await start()).status).toBe(400)
      expect(countCalls(setup) + upstreams.anthropic.requests.length).toBe(0)
      expect(await counted(setup)).toBe(0)
      hook.setDecision(() => ({ verdict: 'allow' }))
      expect((await upload()).status).toBe(200)
      expect((await start()).status).toBe(200)
    })

    test('is called for a stored background response when it is read', async () => {
      const { hook, proxy, key } = setup
      const made = await readAnswer(
        await post(proxy, key, '/responses', { model: MODEL, input: 'Later?', background: true }),
      )
      expect(made.status, made.text).toBe(200)
      const read = () => get(proxy, `/responses/${made.json.id}`, key).then(readAnswer)
      hook.requests.length = 0
      expect((await read()).status).toBe(200)
      expect(hook.requests).toMatchObject([{ type: 'after', stored: true, request: {}, answer: { id: made.json.id } }])
      hook.setDecision(refusing('after'))
      expect(codeOf(await read())).toBe('400 answer_refused')
    })

    test('receives no MCP credentials', async () => {
      const { hook, proxy, key } = setup
      const secret = 'an-mcp-secret'
      const server = { type: 'mcp', server_label: 'a', server_url: 'https://a.example', authorization: secret }
      const tools = [{ ...server, headers: { 'x-key': secret } }]
      for (const input of ['Well?', 'long '.repeat(80_000)])
        await post(proxy, key, '/responses', { model: MODEL, input, tools }).then(sent => sent.text())
      expect(hook.requests.length).toBeGreaterThanOrEqual(2)
      for (const body of hook.bodies) expect(body).not.toContain(secret)
      expect(hook.requests[0]?.request.tools).toMatchObject([{ server_url: 'https://a.example' }])
    })

    test('receives the content of packed extras, which a client may have written', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(({ request }) => ({
        verdict: JSON.stringify(request).includes(CARD) ? 'refuse' : 'allow',
        policy: '1',
      }))
      const text = packExtras({ fields: { reasoning_content: `My card: ${CARD}` }, calls: {} }, ['any key'])
      const thought = { type: 'thinking', thinking: 'Hm.', signature: text }
      const model = 'openai/gpt-4o-mini'
      const userMessage = { role: 'user', content: 'Well?' }
      const bodies = [
        ['/responses', { model, input: [userMessage, { type: 'reasoning', summary: [], encrypted_content: text }] }],
        ['/messages', { model, max_tokens: 9, messages: [userMessage, { role: 'assistant', content: [thought] }] }],
      ] as const
      for (const [path, body] of bodies) {
        const sent = await post(proxy, key, path, body)
        expect([sent.status, await sent.text()]).toEqual([400, expect.stringContaining('do not allow')])
      }
      expect(setup.upstreams.aggregator.requests).toEqual([])
    })
  })

  describe('that fails closed', () => {
    const setup = setUp(backend, { HOOK_TIMEOUT_MS: '600', HOOK_MAX_BYTES: '2048' })
    const says: Record<string, () => Response | Promise<Response>> = {
      'is slow': () => new Promise(() => {}),
      fails: () => Response.json({ verdict: 'allow', policy: '1' }, { status: 500 }),
      'says nothing': () => new Response(null, { status: 200 }),
      'says what is no verdict': () => Response.json({ verdict: 'allowed' }),
      'says which rules in no text': () => Response.json({ verdict: 'allow', policy: 1 }),
      'says too much': () => new Response(`{"verdict":"allow","policy":"1","more":"${'a'.repeat(100_000)}"}`),
      'leads elsewhere': () => Response.redirect(`${setup.hook.url}/elsewhere`, 307),
    }

    test.each(Object.entries(says))('rejects requests when it %s', async (_, say) => {
      const { hook, proxy, key } = setup
      await ask(proxy, key, chat('Stored?'))
      const before = countCalls(setup)
      hook.setDecision(say)
      for (const body of [chat('Stored?'), chat('New?'), chat('New?', { stream: true })]) {
        const refused = await ask(proxy, key, body)
        expect(codeOf(refused)).toBe('503 hook_unavailable')
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      }
      expect(countCalls(setup)).toBe(before)
      expect(hook.requests.filter(({ request }) => JSON.stringify(request).includes('New?'))).toHaveLength(2)
      hook.reset()
      await closed(setup)
    })

    test('rejects responses too, which are charged and not stored', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(({ type }) => (type === 'before' ? { verdict: 'allow', policy: '1' } : new Response('no')))
      for (const stream of [false, true]) {
        const refused = await ask(proxy, key, chat('Paid?', { stream }))
        expect(codeOf(refused)).toBe('503 hook_unavailable')
        expect((await recordOf(setup, refused))?.cost_usd).toBeGreaterThan(0)
      }
      expect(await counted(setup)).toBe(0)
      hook.reset()
      await closed(setup)
      expect((await ask(proxy, key, chat('Paid?'))).cache).toBe('MISS')
    })

    test('rejects what is too long to be checked', async () => {
      const { hook, proxy, key } = setup
      expect(codeOf(await ask(proxy, key, chat('long '.repeat(500))))).toBe('413 too_long_to_check')
      expect(hook.requests).toHaveLength(0)
      setup.upstreams.openai.script({ kind: 'answer', contentChars: 3_000 })
      for (const stream of [false, true])
        expect(codeOf(await ask(proxy, key, chat('Tell me', { stream })))).toBe('413 too_long_to_check')
    })

    test('is not called for a while once it keeps failing', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(() => new Response(null, { status: 500 }))
      await waitUntil('the circuit is open', async () => {
        const before = hook.requests.length
        expect(codeOf(await ask(proxy, key, chat('Still?')))).toBe('503 hook_unavailable')
        return hook.requests.length === before
      })
      hook.reset()
      await closed(setup)
    })
  })

  describe('that fails open', () => {
    const setup = setUp(backend, { HOOK_TIMEOUT_MS: '600', HOOK_ON_FAILURE: 'open', HOOK_STREAMS: 'live' })

    test('allows requests when it is unreachable, and is called later for what was stored meanwhile', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(() => new Promise(() => {}))
      expect((await ask(proxy, key, chat('Unheard?'))).cache).toBe('MISS')
      expect((await ask(proxy, key, chat('Unheard?'))).cache).toBe('HIT')
      hook.reset()
      hook.setDecision(refusing('after'))
      await closed(setup)
      hook.requests.length = 0
      expect(codeOf(await ask(proxy, key, chat('Unheard?')))).toBe('400 answer_refused')
      expect(hook.requests.map(({ type, stored }) => [type, stored])).toEqual([
        ['before', undefined],
        ['after', true],
        ['after', false],
      ])
    })

    test('does not delay every request by its time limit while it is down', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(() => new Promise(() => {}))
      await waitUntil('the circuit is open', async () => {
        const before = hook.requests.length
        expect((await ask(proxy, key, chat('Down?'))).status).toBe(200)
        return hook.requests.length === before
      })
      hook.reset()
      await closed(setup)
    })

    test('still rejects what it receives', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(refusing('before'))
      expect(codeOf(await ask(proxy, key, chat('Heard?')))).toBe('400 request_refused')
    })

    test('a live stream that is rejected ends with an error, and no other client gets it', async () => {
      const { hook, proxy, key } = setup
      hook.setDecision(refusing('after', 'It has a number.'))
      const broken = await ask(proxy, key, chat('Live?', { stream: true }))
      expect(broken.status).toBe(200)
      expect(broken.text).toContain('"code":"answer_refused"')
      expect(broken.text).not.toContain('[DONE]')
      expect(await recordOf(setup, broken)).toMatchObject({ status: 400, error_code: 'answer_refused' })
      hook.reset()
      expect((await ask(proxy, key, chat('Live?', { stream: true }))).cache).toBe('MISS')
    })
  })
})

/** Waits until the circuit has closed, so that requests reach the hook again. */
async function closed({ proxy, hook, key }: Setup): Promise<void> {
  await waitUntil('the circuit is closed', async () => {
    const before = hook.requests.length
    await ask(proxy, key, chat(crypto.randomUUID()))
    return hook.requests.length >= before + 2
  })
}

describeReal('a hook of several processes', backend => {
  test('what it rejected reaches no client of another process, and what passed there is known to have', async () => {
    const hook = startHook()
    const upstream = await startFakeProvider()
    const stores = await backend.open()
    const opened = await Promise.all([openBus(stores), openBus(stores)])
    const environment = { ...upstream.environment, ...hook.environment }
    const proxies = await Promise.all(opened.map(bus => startProxy({ stores, environment, bus })))
    const [one, other] = proxies as [TestProxy, TestProxy]
    const key = await one.createKey({ type: 'project' })
    await Promise.all(proxies.map(proxy => ask(proxy, key, `Warm ${proxy.port}?`)))
    const all = (content: string) =>
      Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          ask(i % 4 < 2 ? one : other, key, question(content, { stream: i % 2 === 0 })),
        ),
      )
    hook.setDecision(refusing('after'))
    upstream.script({ kind: 'answer', content: CARD, firstByteDelayMs: 300 })
    for (const { status, text } of await all('Refused?')) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(text).not.toContain('4111')
    }
    hook.reset()
    upstream.reset()
    upstream.script({ kind: 'answer', content: 'passed', firstByteDelayMs: 300 })
    expect((await all('Passed?')).map(textOf)).toEqual(Array(8).fill('passed'))
    expect(upstream.requests).toHaveLength(1)
    expect(hook.requests.filter(({ type }) => type === 'after')).toHaveLength(1)
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all([...opened.map(each => each.close()), upstream.stop(), hook.stop()])
  })
})

async function policies({ proxy }: Setup): Promise<unknown[]> {
  await proxy.settle()
  const rows = await proxy.query<{ policy: string | null }>(
    'select policy from cache_entries where request_hash is not null and response is not null order by id desc limit 1',
  )
  return rows.map(({ policy }) => policy)
}

function waitForResponseCheck({ requests }: TestHook): Promise<number> {
  return waitUntil('the hook checks the response', () => requests.some(({ type }) => type === 'after'))
}

/** Recorded data about a request besides its tokens: reasons, callers, times and errors. */
import { beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { readEncryptionKeys } from '../../src/providers/keys/encryption-key.ts'
import { createQuestionVault } from '../../src/providers/keys/question-vault.ts'
import { createVault } from '../../src/providers/keys/vault.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { BODIES } from '../harness/bodies.ts'
import { question } from '../harness/chat.ts'
import { post, readAnswer } from '../harness/client.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

// biome-ignore lint/suspicious/noExplicitAny: a row of usage_records
type Row = Record<string, any>
const PASSED = ['/moderations', '/images/generations', '/audio/speech', '/rerank']
/** Embeddings are stored input by input, images and rankings not at all. */
const NOT_KEPT_WHOLE = ['/embeddings', '/images/generations', '/rerank']

describeBackends('the log of a request', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstream.environment, UPSTREAM_MAX_RETRIES: '1', ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
    }),
  )
  let sandboxKey: string
  let paidKey: string
  beforeAll(async () => {
    sandboxKey = await proxy.createKey()
    paidKey = await proxy.createKey({ project: 'paid', type: 'project' })
  })

  async function send(
    key: string,
    path: string,
    body: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    const id = crypto.randomUUID()
    const answer = await readAnswer(await post(proxy, key, path, body, { headers: { 'x-request-id': id, ...headers } }))
    await proxy.settle()
    const [row] = await proxy.query<Row>(`select * from usage_records where request_id = '${id}'`)
    return { answer, row }
  }

  test('a model that only a path can name is recorded as text', async () => {
    const id = crypto.randomUUID()
    const root = { baseUrl: proxy.rootUrl }
    const path = '/openai/deployments/a%00b/chat/completions?api-version=1'
    const { model: _, ...unnamed } = question('Hello')
    const refused = await post(root, sandboxKey, path, unnamed, { headers: { 'x-request-id': id } })
    expect(refused.status).toBe(400)
    await proxy.settle()
    const rows = await proxy.query<Row>(`select status, model from usage_records where request_id = '${id}'`)
    expect(rows).toEqual([{ status: 400, model: 'a b' }])
  })

  test.each(Object.keys(BODIES))('at %s: a miss, its repetition, and an invalid request', async path => {
    const body = {
      ...BODIES[path],
      user: 'some\u202ebody\n',
      ...(path === '/messages' && { metadata: { user_id: 'some body' } }),
    }
    const { user: _, ...withoutUser } = body
    const sent = PASSED.includes(path) ? BODIES[path] : path === '/messages' ? withoutUser : body
    const miss = await send(sandboxKey, path, sent)
    expect([path, miss.answer.status]).toEqual([path, 200])
    expect(miss.row).toMatchObject({
      cache_result: 'MISS',
      error_code: null,
      upstream_status: null,
      fallbacks: null,
      attempts: 1,
    })
    const recorded = path === '/messages' ? /^some body$/ : /^some body …[0-9a-f]{32}$/
    if (PASSED.includes(path)) expect(miss.row?.end_user).toBeNull()
    else expect(miss.row?.end_user).toMatch(recorded)
    expect(miss.row?.admission_ms).toBeGreaterThan(0)
    expect(miss.row?.upstream_ms).toBeGreaterThan(0)
    expect(miss.row?.latency_ms).toBeGreaterThanOrEqual(miss.row?.admission_ms)
    expect(miss.row?.cache_reason).toBe(miss.answer.headers.get('x-proxy-cache-reason'))

    const repeat = await send(sandboxKey, path, sent)
    expect(repeat.row).toMatchObject({
      cache_result: repeat.answer.headers.get('x-proxy-cache'),
      cache_id: repeat.answer.headers.get('x-proxy-cache-id'),
      cache_reason: repeat.answer.headers.get('x-proxy-cache-reason'),
    })
    if (!NOT_KEPT_WHOLE.includes(path)) {
      expect(repeat.row).toMatchObject({ cache_result: 'HIT', cache_reason: 'exact', attempts: null, lookup_ms: null })
      expect(repeat.row?.completion_tokens_saved).toBe(miss.row?.completion_tokens)
    }

    const refused = await send(sandboxKey, path, { nonsense: true })
    const { error } = refused.answer.json
    expect(refused.answer.status).toBe(400)
    expect(refused.row).toMatchObject({
      status: 400,
      endpoint: path.slice(1).replace('/completions', ''),
      attempts: null,
    })
    expect(refused.row?.error_message).toBe(error.message)
    expect(refused.row?.cost_usd).toBe(refused.row?.saved_usd)
  })

  test('an upstream’s error is recorded with its status and message, without the prompt', async () => {
    const prompt = 'my rather secret question about the merger'
    upstream.scriptOnce({ kind: 'error', status: 422, message: `Cannot take '${prompt}' today`, code: 'too_secret' })
    const { answer, row } = await send(paidKey, '/chat/completions', question(prompt))
    expect(answer.status).toBe(422)
    expect(row).toMatchObject({
      status: 422,
      error_code: 'too_secret',
      error_message: null,
      upstream_status: 422,
      upstream_message: "Cannot take '…' today",
      attempts: 1,
    })
  })

  test('retries are counted, and so is a fallback, beside the requested model’s failure', async () => {
    await proxy.query(`select set_setting('paid', 'fallbacks', 'openai/gpt-4o')`)
    upstream.scriptOnce({ kind: 'error', status: 503, message: 'Overloaded' })
    upstream.scriptOnce({ kind: 'error', status: 503, message: 'Overloaded still' })
    const { answer, row } = await send(paidKey, '/chat/completions', question('Who falls back?'))
    await proxy.query(`select set_setting('paid', 'fallbacks', '')`)
    expect(answer.status).toBe(200)
    expect(row).toMatchObject({
      status: 200,
      error_code: null,
      model: 'openai/gpt-4o',
      asked_model: 'openai/gpt-4o-mini',
      fallbacks: 'openai/gpt-4o',
      upstream_status: 503,
      upstream_message: 'Overloaded still',
      attempts: 3,
    })
  })

  test('an unreachable upstream is recorded in the proxy’s own words', async () => {
    upstream.scriptOnce({ kind: 'cut', after: 'nothing' })
    upstream.scriptOnce({ kind: 'cut', after: 'nothing' })
    const { answer, row } = await send(paidKey, '/chat/completions', question('Who is there?'))
    expect(answer.status).toBe(502)
    expect(row).toMatchObject({
      error_code: 'upstream_error',
      error_message: answer.json.error.message,
      upstream_status: null,
      attempts: 2,
    })
  })

  test('a stream has the time of its first chunk, and a semantic hit its similarity and entry', async () => {
    const { row } = await send(paidKey, '/chat/completions', {
      ...question('What is the capital of Peru?'),
      stream: true,
    })
    expect(row).toMatchObject({ streamed: true, status: 200 })
    expect(row?.first_chunk_ms).toBeGreaterThan(0)
    expect(row?.lookup_ms).toBeGreaterThan(0)
    const hit = await send(paidKey, '/chat/completions', question("what's the capital of peru"))
    expect(hit.answer.cache).toBe('HIT-SEMANTIC')
    expect(hit.row).toMatchObject({
      cache_reason: hit.answer.headers.get('x-proxy-cache-reason'),
      cache_id: hit.answer.headers.get('x-proxy-cache-id'),
    })
    expect(hit.row?.similarity.toFixed(4)).toBe(hit.answer.headers.get('x-proxy-cache-similarity'))
  })

  test('rate-limited requests are recorded at most thirty times a minute', async () => {
    await proxy.query(`insert into plans values ('tight', 1000, 5, 1000, 1000, 1000) on conflict do nothing`)
    const key = await proxy.createKey({ project: 'tight', plan: 'tight', type: 'project' })
    const [account] = await proxy.query<{ id: number }>(`select id from projects where name = 'tight'`)
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => post(proxy, key, '/chat/completions', question('Hi?'))),
    )
    await Promise.all(answers.map(answer => answer.arrayBuffer()))
    await proxy.settle()
    const rows = await proxy.query<Row>(
      `select status, error_code, model, count(*)::integer as n from usage_records
        where project_id = ${account?.id} group by 1, 2, 3 order by 1`,
    )
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(55)
    expect(rows).toEqual([
      { status: 200, error_code: null, model: 'openai/gpt-4o-mini', n: 5 },
      { status: 429, error_code: 'rate_limit_exceeded', model: 'openai/gpt-4o-mini', n: 30 },
    ])
  })

  test('content is stored only if the project or the key allows it, sealed, until that is disabled', async () => {
    const key = await proxy.createKey({ project: 'sealed', type: 'project' })
    const [project] = await proxy.query<{ id: number }>(`select id from projects where name = 'sealed'`)
    const contents = () =>
      proxy.query<Row>(`select * from request_contents where project_id = ${project?.id} order by recorded_at`)
    const ask = (text: string) => send(key, '/chat/completions', question(text))
    await ask('What nobody keeps?')
    expect(await contents()).toEqual([])

    await proxy.query(`select set_key_log_content('${key}', 'sealed')`)
    upstream.scriptOnce({ kind: 'answer', content: 'a very special answer' })
    const { row } = await ask('What somebody keeps?')
    await ask('What somebody keeps?')
    await send(key, '/chat/completions', { ...question('What is streamed?'), stream: true })
    upstream.scriptOnce({ kind: 'error', status: 400, message: 'a very special error' })
    await ask('What fails?')
    const stored = await contents()
    expect(stored).toHaveLength(4)
    const keys = readConfig({ ENCRYPTION_KEY: TEST_ENCRYPTION_KEY })
    const { open } = createQuestionVault(createVault(() => readEncryptionKeys(keys)))
    const openBoth = ({ sealed_request, sealed_response }: Row) =>
      Promise.all(
        [sealed_request, sealed_response].map(sealed =>
          open(`\\x${Buffer.from(sealed).toString('hex')}`, Number(project?.id)),
        ),
      )
    const opened = await Promise.all(stored.map(openBoth))
    expect(stored[0]).toMatchObject({ request_id: row?.request_id, recorded_at: row?.recorded_at })
    expect(opened[0]?.[0]).toBe(JSON.stringify(question('What somebody keeps?')))
    expect(opened[0]?.[1]).toContain('a very special answer')
    expect(opened[1]).toEqual(opened[0])
    expect(opened[2]?.[1]).toContain('choices')
    expect(opened[3]?.[1]).toContain('a very special error')
    expect(Buffer.concat(stored.map(each => each.sealed_response)).toString('latin1')).not.toContain('special')

    await proxy.query(`select set_key_log_content('${key}', 'off')`)
    await proxy.query(`select set_setting('sealed', 'log_content', 'sealed')`)
    await ask('What the key does not keep?')
    expect(await contents()).toEqual([])
    await proxy.query(`select set_key_log_content('${key}', null)`)
    await ask('What the project keeps?')
    expect(await contents()).toHaveLength(1)
    await proxy.query(`select set_setting('sealed', 'log_content', 'off')`)
    expect(await contents()).toEqual([])
  })

  test('old content is deleted with its day', async () => {
    await proxy.query(
      `create table request_contents_2020_01_01 partition of request_contents for values from ('2020-01-01') to ('2020-01-02')`,
    )
    await proxy.query('select maintain_usage_partitions()')
    const days = await proxy.query<{ name: string }>(
      `select relname as name from pg_class where relname ~ '^request_contents_[0-9_]+$' order by 1`,
    )
    // Today's partition and those of the next three days.
    expect(days).toHaveLength(4)
    expect(days[0]?.name).toBe(`request_contents_${new Date().toISOString().slice(0, 10).replaceAll('-', '_')}`)
  })
})

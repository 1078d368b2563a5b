import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question, textOf } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

/** A delay that is long enough for an admitted request to join. */
const JOINED = { firstByteDelayMs: 100 }

describeOnce('identical requests in flight', backend => {
  let upstream: FakeProvider
  let proxy: TestProxy
  let key: string

  beforeEach(async () => {
    if (proxy) await Promise.all([proxy.stop(), upstream.stop()])
    upstream = await startFakeProvider()
    // Retries are off, so that each shared call is one upstream call.
    const environment = { ...upstream.environment, UPSTREAM_MAX_RETRIES: '0' }
    proxy = await startProxy({ stores: await backend.open(), environment })
    key = await proxy.createKey({ type: 'project' })
  })
  afterAll(() => Promise.all([proxy.stop(), upstream.stop()]))

  async function countedRequests(): Promise<number> {
    await proxy.settle()
    const [row] = await proxy.query<{ requests: number }>(
      'select sum(requests)::integer as requests from monthly_counters',
    )
    return row?.requests ?? 0
  }

  async function countAdmitted(): Promise<number> {
    const [row] = await proxy.query<{ admitted: number }>(
      'select coalesce(sum(requests), 0)::integer as admitted from monthly_counters',
    )
    return row?.admitted ?? 0
  }

  /**
   * Sets a scenario for each upstream call; further calls repeat the last one. The first is answered once this many requests are admitted.
   */
  function respondOnceAdmitted(requests: number, ...scenarios: Scenario[]): void {
    let areIn: Promise<unknown> | null = null
    let calls = 0
    upstream.script(async () => {
      const scenario = scenarios[Math.min(calls++, scenarios.length - 1)]
      areIn ??= waitUntil('all requests are admitted', async () => (await countAdmitted()) === requests)
      await areIn
      return scenario
    })
  }

  test('200 at once, half of them streamed, are one upstream call and 200 complete responses', async () => {
    respondOnceAdmitted(200, { kind: 'answer', content: 'one two three four five six', ...JOINED, chunkPauseMs: 5 })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => ask(proxy, key, question('Which?', { stream: i % 2 === 0 }))),
    )
    expect(upstream.requests).toHaveLength(1)
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
    expect(new Set(answers.map(textOf))).toEqual(new Set(['one two three four five six']))
    expect(answers.filter(answer => answer.cache === 'MISS')).toHaveLength(1)
    const followers = answers.filter(answer => answer.cache === 'HIT')
    expect(followers).toHaveLength(199)
    expect(followers.some(({ headers }) => headers.get('cache-status') === 'model-proxy; fwd=miss; collapsed')).toBe(
      true,
    )
    for (const { headers } of followers) {
      expect(headers.get('x-proxy-cost-usd')).toBe('0')
      expect(headers.get('x-proxy-cache-age')).toBe('0')
    }
    for (const { text, json } of answers) if (!json) expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await countedRequests()).toBe(200)
  })

  test('a request counted only after the call that it could have joined finds its response', async () => {
    const { stores } = proxy
    const later = Promise.withResolvers<void>()
    let counted: Promise<unknown> = Promise.resolve()
    const database: Database = {
      ...stores.database,
      async call(text, values) {
        if (text.includes('.admit(')) await counted
        // PostgreSQL stores the response after it has received the next request.
        if (text.includes('.store_cached_responses(')) await Bun.sleep(500)
        return stores.database.call(text, values)
      },
    }
    const slow = await startProxy({
      stores: { ...stores, database },
      environment: upstream.environment,
    })
    upstream.script({ kind: 'answer', content: 'once', firstByteDelayMs: 200 })
    const first = ask(slow, key, question('Late?'))
    await waitUntil('the request reaches the upstream', () => upstream.requests.length === 1)
    counted = first
    const second = await ask(slow, key, question('Late?'))
    later.resolve()
    expect([textOf(await first), textOf(second)]).toEqual(['once', 'once'])
    expect(second.cache).toBe('HIT')
    expect(upstream.requests).toHaveLength(1)
    await slow.stop()
  })

  test('a streamed follower gets the leader’s events live', async () => {
    // The scenario never ends, so the follower reads while the leader's call is in flight.
    upstream.script({ kind: 'hang', after: 3 })
    const leaving = new AbortController()
    const body = question('Slow?', { stream: true })
    const leader = await post(proxy, key, '/chat/completions', body, { signal: leaving.signal })
    const response = await post(proxy, key, '/chat/completions', body, { signal: leaving.signal })
    // Parts that had arrived already are sent at once.
    const part = await response.body?.getReader().read()
    expect(new TextDecoder().decode(part?.value)).toContain('data: {')
    expect(response.headers.get('x-proxy-cache')).toBe('HIT')
    expect(upstream.counts).toMatchObject({ active: 1, aborted: 0 })
    expect(upstream.requests).toHaveLength(1)
    leaving.abort()
    await leader.text().catch(() => {})
    await waitUntil('the upstream call is ended', () => upstream.counts.active === 0)
  })

  test('a stream that reports a failure itself is the same for all its followers', async () => {
    respondOnceAdmitted(6, { kind: 'errorInAnswer', afterChunks: 2, shape: 'bare', ...JOINED })
    const body = question('Well?', { stream: true })
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(proxy, key, body)))
    expect(upstream.requests).toHaveLength(1)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.text).toContain('Provider returned error')
    expect(await countedRequests()).toBe(0)
    expect(await proxy.query('select distinct status from usage_records')).toEqual([{ status: 502 }])
  })

  test('the leader’s failure promotes a follower', async () => {
    respondOnceAdmitted(
      20,
      { kind: 'cut', after: 'nothing', ...JOINED },
      { kind: 'answer', content: 'at last', ...JOINED },
    )
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(proxy, key, question('Again?'))))
    expect(answers.map(answer => answer.status).toSorted()).toEqual([...Array(19).fill(200), 502])
    expect(upstream.requests).toHaveLength(2)
    expect(await countedRequests()).toBe(19)
  })

  test('an upstream that keeps failing is called twice, and every client gets its error', async () => {
    respondOnceAdmitted(20, { kind: 'error', status: 503, ...JOINED })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(proxy, key, question('Down?'))))
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([503]))
    expect(new Set(answers.map(answer => answer.cache))).toEqual(new Set(['MISS']))
    expect(upstream.requests).toHaveLength(2)
    expect(await countedRequests()).toBe(0)
  })

  test('an error about the request is the same for all, after one call', async () => {
    respondOnceAdmitted(20, { kind: 'error', status: 400, ...JOINED })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(proxy, key, question('Wrong?'))))
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([400]))
    expect(upstream.requests).toHaveLength(1)
    expect(await countedRequests()).toBe(0)
  })

  test('followers get their response although the leader’s client leaves', async () => {
    upstream.script({ kind: 'answer', content: 'still here', firstByteDelayMs: 3_000 })
    const before = await countAdmitted()
    const leaving = new AbortController()
    const leader = post(proxy, key, '/chat/completions', question('Who stays?'), { signal: leaving.signal }).catch(
      () => 'left',
    )
    await waitUntil('the request reaches the upstream', () => upstream.counts.active === 1)
    const follower = ask(proxy, key, question('Who stays?'))
    await waitUntil('the follower is admitted', async () => (await countAdmitted()) === before + 2)
    // The follower joins at once.
    await Bun.sleep(30)
    leaving.abort()
    expect(await leader).toBe('left')
    expect(textOf(await follower)).toBe('still here')
    expect(upstream.requests).toHaveLength(1)
  })

  test.each([false, true])('the last to leave ends the upstream call (stream: %s)', async stream => {
    upstream.script(
      stream ? { kind: 'answer', contentChars: 4_000, chunkPauseMs: 50 } : { kind: 'hang', after: 'nothing' },
    )
    const leaving = new AbortController()
    // A call to a model without a price ends with its last client, because it yields no cost to settle.
    const body = question('Nobody?', { stream, ...(stream ? {} : { model: 'unknown/unpriced' }) })
    let begun = 0
    const clients = [1, 2].map(async () => {
      const response = await post(proxy, key, '/chat/completions', body, { signal: leaving.signal })
      for await (const _part of response.body ?? []) begun++
    })
    await waitUntil('the request reaches the upstream', () => upstream.counts.active === 1)
    // A stream that nothing has arrived of is read on, because its cost is unknown.
    if (stream) await waitUntil('the stream has begun', () => begun > 0)
    leaving.abort()
    await Promise.allSettled(clients)
    // The contract is 100 ms; client, proxy and upstream share one thread here, and the machine may be busy.
    await waitUntil('the upstream call is ended', () => upstream.requests[0]?.abortedAtMs != null)
    expect(upstream.requests).toHaveLength(1)
  })

  test('no-store and no-cache never join', async () => {
    upstream.script(async () => {
      await waitUntil('all requests reach the upstream', () => upstream.requests.length === 3)
      return { kind: 'answer', content: 'x' }
    })
    await Promise.all([
      ask(proxy, key, question('Mine?')),
      ask(proxy, key, question('Mine?'), { 'cache-control': 'no-store' }),
      ask(proxy, key, question('Mine?'), { 'cache-control': 'no-cache' }),
    ])
    expect(upstream.requests).toHaveLength(3)
  })

  test('an incomplete response is shared with no client that waits for the whole', async () => {
    upstream.script({ kind: 'answer', content: 'cut off', finishReason: 'length', firstByteDelayMs: 60 })
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask(proxy, key, question('Long?'))))
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
    expect(new Set(answers.map(answer => answer.cache))).toEqual(new Set(['MISS']))
    expect((await ask(proxy, key, question('Long?'))).cache).toBe('MISS')
  })

  test('a rejected request leaves no shared call behind: nothing is sent, and the next one leads', async () => {
    const project = `spent-${crypto.randomUUID().slice(0, 8)}`
    await proxy.query(`insert into plans values ('two', 1000000, 1000000, 2) on conflict do nothing`)
    const short = await proxy.createKey({ project, plan: 'two', type: 'project' })
    expect((await ask(proxy, short, question('First?'))).cache).toBe('MISS')
    expect((await ask(proxy, short, question('Second?'))).cache).toBe('MISS')
    const refused = await Promise.all([1, 2, 3].map(() => ask(proxy, short, question('Third?'))))
    expect(refused.map(answer => answer.status)).toEqual([429, 429, 429])
    expect(upstream.requests).toHaveLength(2)
    await proxy.query(`update projects set plan = 'open' where name = '${project}'`)
    const answers = await Promise.all([1, 2, 3].map(() => ask(proxy, short, question('Third?'))))
    expect(answers.map(answer => answer.cache).toSorted()).toEqual(['HIT', 'HIT', 'MISS'])
    expect(upstream.requests).toHaveLength(3)
  })

  test('a request that is rejected on its way leaves the call to those behind it', async () => {
    await proxy.query(`insert into plans values ('three', 1000000, 1000000, 3) on conflict do nothing`)
    const short = await proxy.createKey({ plan: 'three', type: 'project' })
    await ask(proxy, short, question('Warm?'))
    upstream.script({ kind: 'answer', content: 'shared', firstByteDelayMs: 50 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(proxy, short, question('Same?', { stream: i % 2 === 0 }))),
    )
    const answered = answers.filter(answer => answer.status === 200)
    expect(answered.map(textOf)).toEqual(['shared', 'shared'])
    expect(answers.filter(answer => answer.status === 429)).toHaveLength(18)
    expect(upstream.requests).toHaveLength(2)
    expect(await countedRequests()).toBe(3)
  })

  test('projects do not share a call', async () => {
    upstream.script({ kind: 'answer', content: 'x', firstByteDelayMs: 60 })
    const other = await proxy.createKey({ type: 'project' })
    await Promise.all([ask(proxy, key, question('Whose?')), ask(proxy, other, question('Whose?'))])
    expect(upstream.requests).toHaveLength(2)
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeMessage, MESSAGE_KINDS } from '../../src/pipeline/coalescing/messages.ts'
import type { ProcessBus } from '../../src/stores/redis/process-bus.ts'
import { createMetrics, type Metrics, mergeSnapshots } from '../../src/telemetry/metrics.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeReal, openBus } from '../harness/backends.ts'
import { question, textOf } from '../harness/chat.ts'
import { type Answer, ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { createRandom } from '../harness/random.ts'
import { waitUntil } from '../harness/wait-until.ts'

const PROCESSES = 4

/** Each proxy here has its own bus, as each process has, so they communicate through Redis only. */
describeReal('identical requests in flight over several proxies', backend => {
  const upstream = duringTests(startFakeProvider)
  let key: string
  const proxies: TestProxy[] = []
  const measured: Metrics[] = []
  const opened: { close(): unknown }[] = []
  /** Followers in other proxies that sent a heartbeat since the set was cleared. */
  const followers = new Set<string>()

  beforeAll(async () => {
    const stores = await backend.open()
    const environment = { ...upstream.environment, UPSTREAM_MAX_RETRIES: '0' }
    for (let i = 0; i < PROCESSES; i++) {
      const bus = recordFollowers(await openBus(stores))
      opened.push(bus)
      const metrics = createMetrics()
      measured.push(metrics)
      proxies.push(await startProxy({ stores, environment, bus, metrics }))
    }
    key = await (proxies[0] as TestProxy).createKey({ type: 'project' })
    // Each process opens its connections.
    await Promise.all(proxies.map((proxy, i) => ask(proxy, key, question(`Warm ${i}?`))))
  })
  afterAll(async () => {
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all(opened.map(each => each.close()))
  })

  const proxyAt = (i: number) => proxies[i % PROCESSES] as TestProxy

  /** Records followers by their heartbeats. A follower that sends one has joined the call. */
  function recordFollowers(bus: ProcessBus): ProcessBus {
    return {
      ...bus,
      send(to, bytes) {
        const message = decodeMessage(bytes)
        if (message?.kind === MESSAGE_KINDS.heartbeat) followers.add(message.followerId)
        return bus.send(to, bytes)
      },
    }
  }

  /**
   * Sets a scenario for each upstream call; further calls repeat the last one. The first is answered once this many proxies follow it.
   */
  function respondOnceFollowed(others: number, ...scenarios: Scenario[]): void {
    let calls = 0
    followers.clear()
    upstream.script(async () => {
      const call = calls++
      if (call === 0) await waitUntil('the followers join', () => followers.size === others)
      return scenarios[Math.min(call, scenarios.length - 1)]
    })
  }

  /** The recorded statuses of these responses only: a client that left an earlier test may be recorded at any time. */
  async function recordedStatuses(answers: readonly Answer[]): Promise<number[]> {
    const ids = answers.map(({ headers }) => `'${headers.get('x-request-id')}'`)
    const records = await proxyAt(0).query<{ status: number }>(
      `select status from usage_records where request_id in (${ids.join(', ')})`,
    )
    return records.map(({ status }) => status)
  }

  test('200 at once over 4 proxies, half of them streamed, are one upstream call and 200 complete responses', async () => {
    upstream.reset()
    respondOnceFollowed(PROCESSES - 1, { kind: 'answer', content: 'one two three four five', chunkPauseMs: 5 })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => ask(proxyAt(i), key, question('Everywhere?', { stream: i % 8 < 4 }))),
    )
    expect(answers.flatMap(({ status, text }) => (status === 200 ? [] : [`${status} ${text}`]))).toEqual([])
    expect(upstream.requests).toHaveLength(1)
    expect(new Set(answers.map(textOf))).toEqual(new Set(['one two three four five']))
    expect(answers.filter(answer => answer.cache === 'MISS')).toHaveLength(1)
    expect(answers.filter(answer => answer.cache === 'HIT')).toHaveLength(199)
    for (const { text, json } of answers) if (!json) expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    await Promise.all(proxies.map(proxy => proxy.settle()))
    const family = mergeSnapshots(measured.map(metrics => metrics.snapshot())).find(
      ({ name }) => name === 'model_proxy_coalesced_requests_total',
    )
    const followed = Object.fromEntries(family?.series.map(({ labels, value }) => [labels.join(), value]) ?? [])
    expect(Object.keys(followed).toSorted()).toEqual(['installation', 'process'])
    for (const requests of Object.values(followed)) expect(requests).toBeGreaterThan(0)
  })

  test('a follower in another proxy gets the stream live', async () => {
    upstream.reset()
    // The scenario never ends, so the follower reads while the leader's call is in flight.
    upstream.script({ kind: 'hang', after: 3 })
    const leaving = new AbortController()
    const body = question('Live?', { stream: true })
    const leader = await post(proxyAt(0), key, '/chat/completions', body, { signal: leaving.signal })
    const response = await post(proxyAt(1), key, '/chat/completions', body, { signal: leaving.signal })
    const part = await response.body?.getReader().read()
    expect(new TextDecoder().decode(part?.value)).toContain('data: {')
    expect(response.headers.get('x-proxy-cache')).toBe('HIT')
    expect(upstream.counts).toMatchObject({ active: 1, aborted: 0 })
    expect(upstream.requests).toHaveLength(1)
    leaving.abort()
    await leader.text().catch(() => {})
    await waitUntil('the upstream call is ended', () => upstream.counts.active === 0)
  })

  test('speech and moderations of many at once over 4 proxies are one upstream call each', async () => {
    upstream.reset()
    upstream.script({ kind: 'answer', firstByteDelayMs: 100, contentChars: 20_000 })
    const speech = { model: 'openai/tts-1', voice: 'alloy', input: 'Everywhere' }
    const sounds = await Promise.all(
      Array.from({ length: 12 }, (_, i) => post(proxyAt(i), key, '/audio/speech', speech).then(got => got.bytes())),
    )
    for (const sound of sounds) expect(Buffer.from(sound).equals(sounds[0] as Uint8Array)).toBe(true)
    const moderation = { input: 'Everywhere' }
    const judged = await Promise.all(
      Array.from({ length: 12 }, (_, i) => post(proxyAt(i), key, '/moderations', moderation).then(got => got.text())),
    )
    expect(new Set(judged).size).toBe(1)
    expect(upstream.requests).toHaveLength(2)
  })

  test('a stream is forwarded whole in another proxy too, also if it is not cacheable, or reports a failure', async () => {
    upstream.reset()
    const scenarios: Scenario[] = [
      { kind: 'answer', finishReason: 'content_filter' },
      { kind: 'errorInAnswer', afterChunks: 2, shape: 'bare' },
    ]
    for (const scenario of scenarios) {
      respondOnceFollowed(1, scenario)
      const body = question(`Whole, with ${scenario.kind}?`, { stream: true })
      const leader = ask(proxyAt(0), key, body)
      await waitUntil('the leader calls the upstream', () => upstream.counts.active === 1)
      const follower = await ask(proxyAt(1), key, body)
      expect(follower.headers.get('x-proxy-cache')).toBe('HIT')
      expect(follower.text).toBe((await leader).text)
      await Promise.all(proxies.map(proxy => proxy.settle()))
      expect(await recordedStatuses([await leader, follower])).toEqual(
        scenario.kind === 'answer' ? [200, 200] : [502, 502],
      )
    }
  })

  test('the leader’s failure promotes a follower in another proxy', async () => {
    upstream.reset()
    respondOnceFollowed(1, { kind: 'error', status: 402 }, { kind: 'answer', content: 'at last' })
    const leader = ask(proxyAt(0), key, question('Whose turn?'))
    await waitUntil('the leader calls the upstream', () => upstream.counts.active === 1)
    const follower = await ask(proxyAt(1), key, question('Whose turn?'))
    expect((await leader).status).toBe(402)
    expect(textOf(follower)).toBe('at last')
    expect(upstream.requests).toHaveLength(2)
  })

  test('a request that asked to follow before the leader knew that it leads may retry: one failure is not the last', async () => {
    upstream.reset()
    // The follower is counted at each attempt to join. The second attempt lets the upstream respond.
    respondOnceFollowed(2, { kind: 'error', status: 402 }, { kind: 'answer', content: 'at last' })
    const buses = [recordFollowers(await openBus(proxyAt(0).stores)), await openBus(proxyAt(0).stores)] as const
    opened.push(...buses)
    const [leaderBus, followerBus] = buses
    const [isTaken, mayLead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let joins = 0
    const environment = { ...upstream.environment, UPSTREAM_MAX_RETRIES: '0' }
    const { stores } = proxyAt(0)
    const leading = await startProxy({
      stores,
      environment,
      bus: {
        ...leaderBus,
        async acquireLease(name: string, id: string, exactKey: string) {
          const reply = await leaderBus.acquireLease(name, id, exactKey)
          isTaken.resolve()
          // Redis has granted the lease, and its reply is late.
          await mayLead.promise
          return reply
        },
      },
    })
    const following = await startProxy({
      stores,
      environment,
      bus: {
        ...followerBus,
        async send(to: string, message: Buffer) {
          if (decodeMessage(message)?.kind === MESSAGE_KINDS.join && ++joins === 2) {
            mayLead.resolve()
            await waitUntil('the leader calls the upstream', () => upstream.counts.active === 1)
          }
          return followerBus.send(to, message)
        },
      },
    })
    const leader = ask(leading, key, question('Who leads?'))
    await isTaken.promise
    const follower = await ask(following, key, question('Who leads?'))
    expect([(await leader).status, textOf(follower), joins]).toEqual([402, 'at last', 2])
    await Promise.all([leading.stop(), following.stop()])
  })

  test('the last client to leave, wherever it is, ends the upstream call', async () => {
    upstream.reset()
    followers.clear()
    upstream.script({ kind: 'hang', after: 'nothing' })
    const leaving = new AbortController()
    const clients = [0, 1].map(async i => {
      if (i === 1) await waitUntil('the first is asked', () => upstream.counts.active === 1)
      // Without a price there is nothing to learn from reading on.
      const body = question('Anyone?', { model: 'unknown/unpriced' })
      await post(proxyAt(i), key, '/chat/completions', body, { signal: leaving.signal })
    })
    await waitUntil('the other has joined', () => followers.size === 1)
    leaving.abort()
    await Promise.allSettled(clients)
    await waitUntil('the upstream call is ended', () => upstream.counts.aborted === 1)
    expect(upstream.requests).toHaveLength(1)
  })

  test('a client that left a shared call of another proxy finds it again', async () => {
    upstream.reset()
    followers.clear()
    upstream.script({ kind: 'answer', contentChars: 60, firstByteDelayMs: 300, chunkPauseMs: 60 })
    const leader = ask(proxyAt(0), key, question('Back so soon?', { stream: true }))
    await waitUntil('the request reaches the upstream', () => upstream.counts.active === 1)
    const leaving = new AbortController()
    const left = post(proxyAt(1), key, '/chat/completions', question('Back so soon?', { stream: true }), {
      signal: leaving.signal,
    })
    await waitUntil('the other has joined', () => followers.size === 1)
    leaving.abort()
    await expect(left).rejects.toThrow()
    await Bun.sleep(50)
    const back = await ask(proxyAt(1), key, question('Back so soon?', { stream: true }))
    expect(textOf(back)).toBe(textOf(await leader))
    expect(back.cache).toBe('HIT')
    expect(upstream.requests).toHaveLength(1)
  })

  test('a response that another proxy stored meanwhile is found, and later ones too', async () => {
    upstream.reset()
    upstream.script({ kind: 'answer', content: 'stored' })
    await ask(proxyAt(0), key, question('Stored elsewhere?'))
    await ask(proxyAt(1), key, question('Anything?'))
    for (let turn = 0; turn < 3; turn++) {
      const answer = await ask(proxyAt(1), key, question('Stored elsewhere?'))
      expect([answer.cache, textOf(answer)]).toEqual(['HIT', 'stored'])
    }
    await proxyAt(0).query(`select purge_cache(name) from projects`)
    const [fresh, follower] = await Promise.all([0, 1].map(i => ask(proxyAt(i), key, question('Stored elsewhere?'))))
    expect([fresh?.cache, follower?.cache].toSorted()).toEqual(['HIT', 'MISS'])
    expect(upstream.requests).toHaveLength(3)
  })

  test('a response stored between the search and the lease is no miss', async () => {
    upstream.reset()
    upstream.script({ kind: 'answer', content: 'once' })
    const bus = await openBus(proxyAt(0).stores)
    opened.push(bus)
    const late = await startProxy({
      stores: proxyAt(0).stores,
      environment: upstream.environment,
      bus: {
        ...bus,
        async acquireLease(name: string, id: string, exactKey: string) {
          // The lookup has started by now, and finds nothing.
          await Bun.sleep(100)
          await ask(proxyAt(1), key, question('Meanwhile?'))
          return bus.acquireLease(name, id, exactKey)
        },
      },
    })
    const answer = await ask(late, key, question('Meanwhile?'))
    expect(textOf(answer)).toBe('once')
    expect(upstream.requests).toHaveLength(1)
    await late.stop()
  })

  test('a lone process takes no lease, and calls once all the same', async () => {
    upstream.reset()
    const bus = await openBus(proxyAt(0).stores)
    opened.push(bus)
    const leases: string[] = []
    const alone = await startProxy({
      stores: proxyAt(0).stores,
      environment: upstream.environment,
      bus: {
        ...bus,
        isOnlyProcess: () => true,
        acquireLease(name: string, id: string, exactKey: string) {
          leases.push(name)
          return bus.acquireLease(name, id, exactKey)
        },
      },
    })
    upstream.script({ kind: 'answer', content: 'once', firstByteDelayMs: 50 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(alone, key, question('Alone?'))))
    expect(new Set(answers.map(textOf))).toEqual(new Set(['once']))
    expect(upstream.requests).toHaveLength(1)
    expect(leases).toEqual([])
    await alone.stop()
  })

  test('however clients come and go, those that stay get exactly the response', async () => {
    for (let round = 0; round < 25; round++) {
      const random = createRandom(round)
      const content = Array.from({ length: 12 }, (_, word) => `r${round}w${word}`).join(' ')
      upstream.reset()
      if (round % 5 === 3) upstream.scriptOnce({ kind: 'error', status: 402, firstByteDelayMs: 20 })
      upstream.script({ kind: 'answer', content, firstByteDelayMs: random() * 50, chunkPauseMs: 4 })
      const visit = async (i: number) => {
        await Bun.sleep(random() * 120)
        const leaving = new AbortController()
        const stays = i % 2 === 0
        if (!stays) setTimeout(() => leaving.abort(), random() * 80)
        const response = await post(
          proxyAt(i),
          key,
          '/chat/completions',
          question(`Round ${round}?`, { stream: random() < 0.6 }),
          { signal: leaving.signal },
        )
        const text = await response.text()
        return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : null, text, stays }
      }
      const visits = await Promise.allSettled(Array.from({ length: 24 }, (_, i) => visit(i)))
      const responses = visits.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
      expect(responses.filter(({ stays }) => stays)).toHaveLength(12)
      const refused = responses.flatMap(({ status, text }) =>
        status === 200 || status === 402 ? [] : [`${status} ${text}`],
      )
      expect(refused).toEqual([])
      const answered = responses.filter(({ status }) => status === 200)
      expect(answered.map(textOf).filter(text => text !== content)).toEqual([])
      // A rejection by the upstream is that of the requests that followed the call, too.
      if (round % 5 !== 3) expect(answered).toHaveLength(responses.length)
    }
  })

  test('a lease whose process has died is taken over at once', async () => {
    upstream.reset()
    upstream.script({ kind: 'answer', content: 'alive' })
    const dead = await openBus(proxyAt(0).stores)
    opened.push(dead)
    const orphan = await startProxy({
      stores: proxyAt(0).stores,
      environment: upstream.environment,
      bus: dead,
    })
    upstream.script({ kind: 'hang', after: 'nothing' })
    const stuck = ask(orphan, key, question('Orphaned?')).catch(() => null)
    await waitUntil('the leader without a bus calls the upstream', () => upstream.counts.active === 1)
    // From now on, the lease is held by a process that does not exist any more.
    await dead.close()
    upstream.script({ kind: 'answer', content: 'alive' })
    // The dead leader's upstream never answers: the request completes only because the heartbeat is missing.
    expect(textOf(await ask(proxyAt(1), key, question('Orphaned?')))).toBe('alive')
    await orphan.stop()
    await stuck
  })
})

import { connect, type Socket } from 'node:net'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { sendSimultaneously } from '../harness/send-simultaneously.ts'
import { waitUntil } from '../harness/wait-until.ts'

const AT_ONCE = 5

describeOnce('a key’s requests in flight', backend => {
  const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstream.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let key: string

  beforeAll(async () => {
    await proxy.query(`
      insert into plans (name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month, concurrent_requests)
      values ('five', 1000000, 1000000, 1000000, ${AT_ONCE}) on conflict do nothing`)
  })
  beforeEach(async () => {
    upstream.reset()
    key = await proxy.createKey({ plan: 'five', type: 'project' })
  })

  const askNew = (stream: boolean) => ask(proxy, key, question(`What is ${crypto.randomUUID()}?`, { stream }))

  test.each([false, true])('are bounded, and one more is told when to retry (stream: %s)', async stream => {
    const slow = { kind: 'answer', content: 'slow and steady', chunkPauseMs: 20 } as const
    const answers = await sendSimultaneously(upstream, 3 * AT_ONCE, () => askNew(stream), slow)
    const refused = answers.filter(answer => answer.status !== 200)
    expect(refused).toHaveLength(2 * AT_ONCE)
    for (const { status, headers, json } of refused) {
      expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'concurrent_requests_exceeded', '1'])
    }
    expect(upstream.counts.total).toBe(AT_ONCE)
    // Finished requests release their slots, and another key has its own.
    expect(
      (await Promise.all(Array.from({ length: AT_ONCE }, () => askNew(stream)))).map(({ status }) => status),
    ).toEqual(Array.from({ length: AT_ONCE }, () => 200))
    await proxy.settle()
    const [counter] = await proxy.query<{ requests: number }>(`
      select c.requests::integer from monthly_counters c join api_keys k on k.project_id = c.project_id
      where k.prefix = '${key.slice(0, 17)}'`)
    expect(counter?.requests).toBe(2 * AT_ONCE)
  })

  test('end also if they failed, and if their clients disconnected', async () => {
    for (let round = 0; round < 3; round++) {
      upstream.script({ kind: 'error', status: 400 })
      const failed = await Promise.all(Array.from({ length: AT_ONCE }, () => askNew(false)))
      expect(failed.map(({ status }) => status)).toEqual(Array.from({ length: AT_ONCE }, () => 400))
      const { promise: haveLeft, resolve: leave } = Promise.withResolvers<void>()
      upstream.script(async () => {
        await haveLeft
        return { kind: 'answer', content: 'slow' }
      })
      const before = upstream.counts.total
      const leaving = new AbortController()
      const gone = Array.from({ length: AT_ONCE }, (_, i) =>
        post(proxy, key, '/chat/completions', question(`Who leaves? ${crypto.randomUUID()}`, { stream: i % 2 === 0 }), {
          signal: leaving.signal,
        }).catch(() => null),
      )
      await waitUntil('all requests reach the upstream', () => upstream.counts.total === before + AT_ONCE)
      leaving.abort()
      await Promise.all(gone)
      leave()
      upstream.script({ kind: 'answer', content: 'well' })
      await waitUntil('all slots are free again', async () => {
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => askNew(false)))
        return answers.every(({ status }) => status === 200)
      })
      await waitUntil('no upstream call is in flight', () => upstream.counts.active === 0)
    }
  })

  test.each([
    ['POST', '/cache/explain'],
    ['POST', '/cache/feedback'],
    ['POST', '/messages/count_tokens'],
    ['POST', '/responses/input_tokens'],
  ])('are bounded where the month does not count them: %s %s', async (method, path) => {
    const head = `${method} /v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: 9\r\n\r\n`
    const unfinished: Socket[] = []
    const isFull = async () => (await post(proxy, key, path, {})).status === 429
    await waitUntil('all requests are in flight', () => {
      const socket = connect(proxy.port, '127.0.0.1').on('error', () => {})
      unfinished.push(socket)
      socket.write(head)
      return isFull()
    })
    for (const socket of unfinished) socket.destroy()
    await waitUntil('a slot is free again', async () => !(await isFull()))
  })
})

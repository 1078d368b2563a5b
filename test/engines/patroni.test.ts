import { expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { openAccounts } from '../faults/accounts.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { startRedis } from '../faults/servers.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { startPatroni } from './patroni.ts'

const CLIENTS = 8

describeEngines('Patroni', ['patroni', 'etcd', 'redis-server'], () => {
  const cluster = duringTests(startPatroni)
  const redis = duringTests(startRedis)

  test('fences a primary that has lost its lease: at no time do two accept writes, and the proxy uses the new one', async () => {
    const [first, second] = cluster.nodes
    const proxy = await startProxyProcess({ DATABASE_URL: cluster.url, REDIS_URL: redis.url })
    const before = openServerDatabase({
      url: `postgres://postgres@127.0.0.1:${first.port}/model_proxy`,
      maxConnections: 1,
    })
    const account = await openAccounts(before).create()
    await before.close()
    await waitUntil('the standby follows', async () => (await second.takesWrites()) === false)

    let isOver = false
    const answers: { status: number; atMs: number }[] = []
    const client = async () => {
      while (!isOver) {
        const { status } = await ask(proxy, account.key, `Question ${answers.length % 50}?`)
        answers.push({ status, atMs: performance.now() })
        await Bun.sleep(50)
      }
    }
    const seen: string[] = []
    const watch = async () => {
      while (!isOver) {
        // Polls the server that stops last before the other one. If it stopped between the polls, two writable servers would not be a
        // fault.
        const later = await second.takesWrites()
        const earlier = await first.takesWrites()
        const state = `${earlier} ${later}`
        if (seen.at(-1) !== state) seen.push(state)
        await Bun.sleep(20)
      }
    }
    const running = Promise.all([watch(), ...Array.from({ length: CLIENTS }, client)])
    await waitUntil('clients are answered', () => answers.length >= 20)
    const cutAtMs = performance.now()
    const parted = first.line.part(60_000)
    await waitUntil('the standby is promoted', async () => (await second.takesWrites()) === true)
    const promotedAtMs = performance.now()
    await waitUntil('requests are served again', async () => answers.at(-1)?.status === 200)
    const { length } = answers
    await waitUntil('clients are answered by the new one', () => answers.length >= length + 20)
    isOver = true
    await running
    void parted

    expect(seen).not.toContain('true true')
    expect(seen.at(-1)).toMatch(/ true$/)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.filter(({ status }) => status !== 503)).toEqual([])
    const [firstRefused = 0, lastRefused = 0] = [refused[0]?.atMs, refused.at(-1)?.atMs]
    process.stdout.write(
      `promoted ${Math.round(promotedAtMs - cutAtMs)} ms after the cut; ${refused.length} of ${answers.length} refused with 503 within ${Math.round(lastRefused - firstRefused)} ms; states ${seen.join(', ')}\n`,
    )
    const after = openServerDatabase({
      url: `postgres://postgres@127.0.0.1:${second.port}/model_proxy`,
      maxConnections: 1,
    })
    const accounts = openAccounts(after)
    const answered = answers.length - refused.length
    await waitUntil('all is recorded', async () => (await accounts.countRecords(account))[200] === answered).catch(
      async () =>
        expect([await accounts.countRequests(account), (await accounts.countRecords(account))[200]]).toEqual([
          answered,
          answered,
        ]),
    )
    await after.close()
  })
})

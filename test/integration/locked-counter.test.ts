import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { describeReal } from '../harness/backends.ts'
import { type Answer, ask } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const OTHERS = 10
const ROUNDS = 20

interface Asked {
  answer: Answer
  tookMs: number
}

describeReal("an operator's transaction holds one project's counter", backend => {
  let proxy: TestProxy
  let operator: Database
  const others: string[] = []

  beforeAll(async () => {
    proxy = await startProxy({ stores: await backend.open() })
    operator = openRealDatabase({ url: proxy.stores.databaseUrl ?? '', maxConnections: 1 })
    for (let i = 0; i < OTHERS; i++) others.push(await proxy.createKey())
  })
  afterAll(async () => {
    await operator.close()
    await proxy.stop()
  })

  async function time(key: string): Promise<Asked> {
    const startedAtMs = performance.now()
    const answer = await ask(proxy, key, `Question ${crypto.randomUUID()}?`)
    return { answer, tookMs: performance.now() - startedAtMs }
  }

  const timeOthers = () => Promise.all(others.map(time))

  async function countOf(project: string): Promise<number> {
    const [row] = await proxy.query<{ requests: number }>(
      `select c.requests::integer from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`,
    )
    return row?.requests ?? 0
  }

  test('the others do not wait for it, and it is refused within a second or waits', async () => {
    const project = `held-${crypto.randomUUID()}`
    const held = await proxy.createKey({ project })
    for (let i = 0; i < 5; i++) await Promise.all([timeOthers(), time(held)])
    const usual = (await Promise.all(Array.from({ length: 4 }, timeOthers))).flat()

    let isHeld = true
    const holding = operator
      .runScript(
        `select 1 from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}' for update of c;
        select pg_sleep(4);`,
      )
      .then(() => {
        isHeld = false
      })
    await Bun.sleep(200)
    const refused: Asked[] = []
    const knocking = (async () => {
      while (isHeld) refused.push(...(await Promise.all([time(held), time(held)])))
    })()
    const meanwhile: Asked[] = []
    for (let round = 0; round < ROUNDS; round++) {
      meanwhile.push(...(await timeOthers()))
      await Bun.sleep(50)
    }
    expect(isHeld).toBe(true)
    await Promise.all([holding, knocking])

    expect(meanwhile.filter(({ answer }) => answer.status !== 200)).toEqual([])
    expect(median(meanwhile)).toBeLessThan(2 * median(usual) + 10)
    // The very first batch may have been made with the held one in it.
    expect(meanwhile.filter(({ tookMs }) => tookMs > 500)).toEqual([])
    expect(refused.filter(({ answer }) => answer.status === 503).length).toBeGreaterThan(4)
    expect(refused.filter(({ tookMs }) => tookMs > 1_300)).toEqual([])
    expect((await time(held)).answer.status).toBe(200)
    await proxy.settle()
    expect(await countOf(project)).toBe(6 + refused.filter(({ answer }) => answer.status === 200).length)
  })

  test('refunds of others are not held up with its own', async () => {
    const [held, free] = [`held-${crypto.randomUUID()}`, `free-${crypto.randomUUID()}`]
    const keys = [await proxy.createKey({ project: held }), await proxy.createKey({ project: free })]
    for (const key of keys) expect((await ask(proxy, key, 'One that counts?')).status).toBe(200)
    const bad = { model: 'nobody-has-this-model', messages: [{ role: 'user', content: 'hi' }] }
    // Admitted before the counter is held, and refunded after.
    const lateFailing = keys.map(key => ask(proxy, key, bad))
    const holding = operator.runScript(
      `select 1 from monthly_counters c join projects p on p.id = c.project_id where p.name = '${held}' for update of c;
      select pg_sleep(3);`,
    )
    await Promise.all(lateFailing)
    await expect.poll(() => countOf(free), { timeout: 2_000, interval: 50 }).toBe(1)
    await holding
    await expect.poll(() => countOf(held), { timeout: 3_000, interval: 50 }).toBe(1)
  })
})

function median(asked: readonly Asked[]): number {
  const sorted = asked.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

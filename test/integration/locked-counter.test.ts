import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createQuotaLedger, type MonthlyCounterKey } from '../../src/admission/quota-reservations.ts'
import { describeReal } from '../harness/backends.ts'
import { type Answer, ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const OTHERS = 10
/** Long enough that only the lock rejects requests, not a busy machine. */
const ADMISSION_LIMIT_MS = 4_000
const ROUNDS = 20

describeReal('an operator’s transaction locks one project’s counter', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), databaseTimeoutMs: ADMISSION_LIMIT_MS }))
  let operator: postgres.Sql
  const others: string[] = []

  beforeAll(async () => {
    operator = postgres(proxy.stores.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    for (let i = 0; i < OTHERS; i++) others.push(await proxy.createKey())
  })
  afterAll(() => operator.end())

  const askNew = (key: string) => ask(proxy, key, `Question ${crypto.randomUUID()}?`)
  const askOthers = () => Promise.all(others.map(askNew))

  /** Locks the counter. Resolves to a function that releases it. */
  async function hold(project: string): Promise<() => Promise<unknown>> {
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const transaction = operator.begin(async sql => {
      await sql`
        select 1 from monthly_counters c join projects p on p.id = c.project_id where p.name = ${project} for update of c`
      held.resolve()
      await released.promise
    })
    transaction.catch(held.reject)
    await held.promise
    return () => {
      released.resolve()
      return transaction
    }
  }

  async function countOf(project: string): Promise<number> {
    const [row] = await proxy.query<{ requests: number }>(
      `select c.requests::integer from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`,
    )
    return row?.requests ?? 0
  }

  test('the others do not wait for it; its requests are rejected meanwhile, and served again afterwards', async () => {
    const project = `held-${crypto.randomUUID()}`
    const held = await proxy.createKey({ project })
    expect((await askNew(held)).status).toBe(200)
    // The counter is released only at the end, so a request that waits for it would not return before.
    const release = await hold(project)
    let isOver = false
    const refused: Answer[] = []
    const sending = (async () => {
      while (!isOver) refused.push(...(await Promise.all([askNew(held), askNew(held)])))
    })()
    for (let round = 0; round < ROUNDS; round++) {
      expect((await askOthers()).map(({ status }) => status)).toEqual(others.map(() => 200))
    }
    await waitUntil('requests are rejected', () => refused.length > 4)
    isOver = true
    await sending
    expect(refused.map(({ status, json }) => [status, json.error.code])).toEqual(
      refused.map(() => [503, 'service_unavailable']),
    )
    await release()
    await waitUntil('requests are admitted again', async () => (await askNew(held)).status === 200)
    await proxy.settle()
    expect(await countOf(project)).toBe(2)
  })

  test('refunds of others are not delayed by it', async () => {
    const [held, free] = [`held-${crypto.randomUUID()}`, `free-${crypto.randomUUID()}`]
    const keys = [await proxy.createKey({ project: held }), await proxy.createKey({ project: free })]
    for (const key of keys) expect((await ask(proxy, key, 'One that counts?')).status).toBe(200)
    const bad = { model: 'nobody-has-this-model', messages: [{ role: 'user', content: 'hi' }] }
    // The requests are admitted before the counter is locked or are rejected, and are refunded afterwards.
    const lateFailing = keys.map(key => ask(proxy, key, bad))
    const release = await hold(held)
    await Promise.all(lateFailing)
    await waitUntil('the other project is refunded', async () => (await countOf(free)) === 1)
    await release()
    await waitUntil('the locked project is refunded', async () => (await countOf(held)) === 1)
  })

  test('refunds of others are not delayed by one that waits for it', async () => {
    const [held, free] = [`held-${crypto.randomUUID()}`, `free-${crypto.randomUUID()}`]
    for (const project of [held, free]) {
      const key = await proxy.createKey({ project })
      for (let i = 0; i < 4; i++) expect((await askNew(key)).status).toBe(200)
    }
    await proxy.settle()
    const tried = Promise.withResolvers<void>()
    const counters = new Map<string, MonthlyCounterKey>()
    for (const project of [held, free]) {
      const [row] = await proxy.query<MonthlyCounterKey>(
        `select c.project_id::integer, c.key_type, c.month::text
           from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`,
      )
      if (row) counters.set(project, row)
    }
    const { database } = proxy.stores
    const ledger = createQuotaLedger({
      ...database,
      async call(text, values) {
        try {
          return await database.call(text, values)
        } finally {
          tried.resolve()
        }
      },
    })
    const refund = (project: string) => ledger.refund(counters.get(project) as MonthlyCounterKey, 1)
    const release = await hold(held)
    refund(held)
    await tried.promise
    for (const project of [free, held]) refund(project)
    await waitUntil('the other project is refunded', async () => (await countOf(free)) === 3)
    expect(await countOf(held)).toBe(4)
    await release()
    await ledger.settled()
    expect([await countOf(held), await countOf(free)]).toEqual([2, 3])
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeReal } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { type Account, type Accounts, openAccounts } from './accounts.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'
import { type Load, startLoad } from './load.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'

/** The number of responses that show that a load runs. */
const ANSWERS = 10
/** Twice the number of positions at which a connection is cut. */
const CUTS = 40

describeReal('replies of the database are lost', backend => {
  let cutting: CuttingProxy
  let accounts: Accounts
  let proxies: ProxyProcess[]

  beforeAll(async () => {
    const { database, databaseUrl, redisUrl } = await backend.open()
    accounts = openAccounts(database)
    cutting = await startCuttingProxy(databaseUrl ?? '')
    const environment = { DATABASE_URL: cutting.url, REDIS_URL: redisUrl ?? '', DATABASE_MAX_CONNECTIONS: '4' }
    proxies = [await startProxyProcess(environment), await startProxyProcess(environment)]
  })
  afterAll(() => cutting?.close())

  function startLoads({ key }: Account): Load[] {
    return proxies.map(({ baseUrl }) => startLoad({ baseUrl, key, clients: 8, pauseMs: 5 }))
  }

  /** Waits until each load has some further responses. */
  async function waitForAnswers(loads: readonly Load[]): Promise<void> {
    const answered = ({ results }: Load) => results.filter(({ status }) => status === 200).length
    const before = loads.map(answered)
    const more = () => loads.every((load, i) => answered(load) > (before[i] ?? 0) + ANSWERS)
    await waitUntil('requests are answered', more)
  }

  async function expectExact(account: Account, loads: readonly Load[]): Promise<void> {
    await Promise.all(loads.map(load => load.stop()))
    const statuses = loads.flatMap(load => load.results.map(result => result.status))
    const answered = statuses.filter(status => status === 200).length
    expect(statuses.filter(status => status !== 200 && status !== 503)).toEqual([])
    const books = async () => ({
      counted: await accounts.countRequests(account),
      recorded: (await accounts.countRecords(account))['200'],
    })
    await waitUntil('exactly the successful requests are counted and recorded', async () => {
      const { counted, recorded } = await books()
      return counted === answered && recorded === answered
    }).catch(async () => expect(await books()).toEqual({ counted: answered, recorded: answered }))
  }

  test('at one statement after another: served = counted = recorded', { timeout: 180_000 }, async () => {
    const account = await accounts.create()
    const loads = startLoads(account)
    await waitForAnswers(loads)
    cutting.cut()
    await waitUntil('each of a session’s first statements was cut', () => cutting.swallowed() > CUTS)
    cutting.pass()
    await waitForAnswers(loads)
    await expectExact(account, loads)
  })

  test('as long as the network is partitioned: served = counted = recorded', { timeout: 180_000 }, async () => {
    const account = await accounts.create()
    const loads = startLoads(account)
    await waitForAnswers(loads)
    await cutting.part(4_000)
    await waitForAnswers(loads)
    await expectExact(account, loads)
  })
})

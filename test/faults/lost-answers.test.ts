import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeReal } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { type Account, type Accounts, openAccounts } from './accounts.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'
import { type Load, startLoad } from './load.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'

describeReal('answers of the database are lost', backend => {
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

  async function expectExact(account: Account, loads: readonly Load[]): Promise<void> {
    await Promise.all(loads.map(load => load.stop()))
    const statuses = loads.flatMap(load => load.results.map(result => result.status))
    const answered = statuses.filter(status => status === 200).length
    expect(answered).toBeGreaterThan(20)
    expect(statuses.filter(status => status !== 200 && status !== 503)).toEqual([])
    const books = async () => ({
      counted: await accounts.countRequests(account),
      recorded: (await accounts.countRecords(account))['200'],
    })
    await waitUntil('what was answered is counted and recorded, and nothing else', 30_000, async () => {
      const { counted, recorded } = await books()
      return counted === answered && recorded === answered
    }).catch(async () => expect(await books()).toEqual({ counted: answered, recorded: answered }))
  }

  test('at one statement after another: answered = counted = recorded', async () => {
    const account = await accounts.create()
    const loads = startLoads(account)
    await Bun.sleep(500)
    cutting.cut()
    await Bun.sleep(6_000)
    cutting.pass()
    await Bun.sleep(500)
    expect(cutting.swallowed()).toBeGreaterThan(20)
    await expectExact(account, loads)
  })

  test('for as long as the network is parted: answered = counted = recorded', async () => {
    const account = await accounts.create()
    const loads = startLoads(account)
    await Bun.sleep(500)
    await cutting.part(4_000)
    await Bun.sleep(1_500)
    await expectExact(account, loads)
  })
})

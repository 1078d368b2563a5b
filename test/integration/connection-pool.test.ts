import { expect, onTestFinished, test, vi } from 'vitest'
import { parseDatabaseUrl } from '../../src/postgres/address.ts'
import { openConnections } from '../../src/postgres/connection-pool.ts'
import { describeReal } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'

describeReal('connections', backend => {
  test('what is being opened as the limit falls is not kept', async () => {
    const { databaseUrl } = await backend.open()
    const address = parseDatabaseUrl(databaseUrl ?? '')
    if (!address) throw new Error('There is no address')
    const connections = openConnections({ address, maxConnections: 2 })
    const [server] = await connections.call<{ pid: number }>('select pg_backend_pid() as pid', [])
    const others = async () => {
      const rows = await connections.call(
        "select from pg_stat_activity where datname = current_database() and application_name = 'model-proxy' and pid <> $1",
        [server?.pid],
      )
      return rows.length
    }
    const before = await others()
    const waits = [0.1, 0.5].map(seconds => connections.call(`select pg_sleep(${seconds})`, []))
    connections.setMaxConnections(1)
    await Promise.all(waits)
    expect(connections.size()).toEqual({ open: 1, most: 1 })
    await waitUntil('the server has no more of them', async () => (await others()) <= before)
    await connections.close()
  })

  test('a process that was held does not take that for a silence of the server', async () => {
    const { databaseUrl } = await backend.open()
    const address = parseDatabaseUrl(databaseUrl ?? '')
    if (!address) throw new Error('There is no address')
    const connections = openConnections({ address, maxConnections: 1 })
    await connections.call('select', [])
    const asked = connections.call<{ slept: string }>('select pg_sleep(1)::text as slept', [])
    const now = performance.now.bind(performance)
    const held = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
    onTestFinished(() => held.mockRestore())
    expect(await asked).toHaveLength(1)
    await connections.close()
  })
})

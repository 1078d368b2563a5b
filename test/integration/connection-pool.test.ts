import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readDatabaseUrl } from '../../src/postgres/address.ts'
import { ConnectionPool } from '../../src/postgres/connection-pool.ts'
import { describeReal } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'

describeReal('connections', backend => {
  test('one that is being opened as the limit falls is closed', async () => {
    const { databaseUrl } = await backend.open()
    const address = readDatabaseUrl(databaseUrl ?? '')
    const connections = new ConnectionPool({ address, maxConnections: 2 })
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
    expect(connections.size).toEqual({ open: 1, most: 1 })
    await waitUntil('the server has closed the connections', async () => (await others()) <= before)
    await connections.close()
  })

  test('a process that was stopped does not treat that time as silence of the server', async () => {
    const { databaseUrl } = await backend.open()
    const address = readDatabaseUrl(databaseUrl ?? '')
    const connections = new ConnectionPool({ address, maxConnections: 1 })
    await connections.call('select', [])
    const sleeping = connections.call<{ slept: string }>('select pg_sleep(1)::text as slept', [])
    const now = performance.now.bind(performance)
    const held = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
    onTestFinished(() => held.mockRestore())
    expect(await sleeping).toHaveLength(1)
    await connections.close()
  })

  test('sends a statement that is new to the connection in one message sequence that ends with Sync', async () => {
    const { databaseUrl } = await backend.open()
    const address = readDatabaseUrl(databaseUrl ?? '')
    const [host] = address?.hosts ?? []
    if (!address || !host) throw new Error('the backend has no address')
    const sent: Buffer[] = []
    const relay = createServer(client => {
      const server = connect(host.port, host.host)
      client.on('data', bytes => sent.push(bytes)).pipe(server)
      server.pipe(client)
      for (const socket of [client, server]) socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void relay.close())
    await once(relay, 'listening')
    const { port } = relay.address() as AddressInfo
    for (const isPrepared of [true, false]) {
      const hosts = [{ host: '127.0.0.1', port }]
      const connections = new ConnectionPool({ address: { ...address, hosts, isPrepared }, maxConnections: 1 })
      await connections.call('select', [])
      sent.length = 0
      const values = [
        [1, 'a'],
        [2, null],
      ]
      const rows = await Promise.all(
        values.map(each => connections.call('select $1::integer as n, $2::text as t, now() as at', each)),
      )
      expect(rows.flat()).toMatchObject([
        { n: 1, t: 'a' },
        { n: 2, t: null },
      ])
      expect(messageTypes(Buffer.concat(sent))).toBe('PDBES'.repeat(2))
      await connections.close()
    }
  })
})

/** The types of a client's messages, for example P for Parse and S for Sync. */
function messageTypes(bytes: Buffer): string {
  let types = ''
  for (let at = 0; at < bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) types += String.fromCharCode(bytes[at] ?? 0)
  return types
}

/** Two PostgreSQL servers under Patroni. Each reaches etcd through its own connection, which a test can cut. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { type CuttingProxy, startCuttingProxy } from '../faults/cutting-proxy.ts'
import { asPostgres, binary, createServerProcess } from '../faults/servers.ts'
import { engineAt } from './find-engine.ts'

/** The minimum that Patroni accepts. */
const TTL_SECONDS = 20

export interface PatroniNode {
  port: number
  /** The connection to etcd. */
  line: CuttingProxy
  /** Returns whether the server accepts writes; null if it does not respond. */
  takesWrites(): Promise<boolean | null>
}

export interface PatroniCluster {
  /** Contains both servers. */
  url: string
  /** The first node is the primary. */
  nodes: [PatroniNode, PatroniNode]
  remove(): Promise<void>
}

async function psql(port: number, statement: string, database = 'postgres'): Promise<string | null> {
  const url = `postgres://postgres@127.0.0.1:${port}/${database}?connect_timeout=2`
  const child = Bun.spawn(['psql', url, '-qAtc', statement], { stdout: 'pipe', stderr: 'ignore' })
  return (await child.exited) === 0 ? (await new Response(child.stdout).text()).trim() : null
}

export async function startPatroni(): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-patroni-'))
  await chmod(folder, 0o777)
  const [client, peer] = [`http://127.0.0.1:${findFreePort()}`, `http://127.0.0.1:${findFreePort()}`]
  const etcd = createServerProcess({
    command: asPostgres([
      ...[engineAt('etcd'), '--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ]),
    stopSignal: 'SIGTERM',
    answers: () =>
      fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
  })
  await etcd.start()
  const ended: (() => Promise<void>)[] = [etcd.kill]

  async function startNode(name: string): Promise<PatroniNode> {
    const port = findFreePort()
    const line = await startCuttingProxy(client)
    const file = join(folder, `${name}.yml`)
    await Bun.write(file, JSON.stringify(configure(name, port, new URL(line.url).host, folder)))
    const node = createServerProcess({
      command: asPostgres([engineAt('patroni'), file]),
      stopSignal: 'SIGTERM',
      answers: async () => (await psql(port, 'select 1')) !== null,
      startedWithinMs: 60_000,
    })
    await node.start()
    ended.push(async () => {
      await node.stop()
      line.close()
    })
    return {
      port,
      line,
      takesWrites: async () => {
        const answer = await psql(port, 'select not pg_is_in_recovery()')
        return answer === null ? null : answer === 't'
      },
    }
  }

  const first = await startNode('first')
  await psql(first.port, 'create database model_proxy')
  const second = await startNode('second')
  return {
    url: `postgres://postgres@127.0.0.1:${first.port},127.0.0.1:${second.port}/model_proxy`,
    nodes: [first, second],
    async remove() {
      for (const end of ended.toReversed()) await end().catch(() => {})
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** JSON is valid YAML. */
function configure(name: string, port: number, etcd: string, folder: string) {
  return {
    scope: 'model-proxy',
    name,
    restapi: { listen: `127.0.0.1:${findFreePort()}` },
    // Otherwise Patroni reads an address from etcd and connects to it directly.
    etcd3: { hosts: [etcd], use_proxies: true },
    bootstrap: {
      dcs: { ttl: TTL_SECONDS, loop_wait: 1, retry_timeout: 3 },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }, 'no-sync'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      data_dir: join(folder, name),
      bin_dir: dirname(binary('postgres')),
      pgpass: join(folder, `${name}.pgpass`),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
      basebackup: [{ checkpoint: 'fast' }],
      parameters: { unix_socket_directories: folder, fsync: 'off' },
    },
  }
}

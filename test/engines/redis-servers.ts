/** Redis clusters, Sentinels and certificates for one test, on free ports of the loopback interface. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { createServerProcess, killWithTests } from '../faults/servers.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { engineAt } from './find-engine.ts'

export interface RedisNode {
  port: number
  /** Runs a command with redis-cli and returns its output. */
  call(...command: (string | number)[]): Promise<unknown>
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
}

export interface Certificates {
  folder: string
  ca: string
  cert: string
  key: string
}

/** Creates an authority, and one certificate for `localhost` that servers and clients share. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-tls-'))
  const at = (name: string) => join(folder, name)
  const openssl = async (...args: string[]) => {
    const made = Bun.spawn([engineAt('openssl'), ...args], { stdout: 'ignore', stderr: 'pipe' })
    if ((await made.exited) !== 0) throw new Error(await new Response(made.stderr).text())
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-subj',
    '/CN=an authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
  )
  await openssl('req', ...key, '-subj', '/CN=localhost', '-keyout', at('node.key'), '-out', at('node.csr'))
  await Bun.write(at('names'), 'subjectAltName=DNS:localhost')
  const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names')]
  await openssl('x509', '-req', '-in', at('node.csr'), ...signed, '-out', at('node.crt'))
  return { folder, ca: at('ca.crt'), cert: at('node.crt'), key: at('node.key') }
}

export interface NodeOptions {
  args?: readonly string[]
  tls?: Certificates | null
}

/** Starts one redis-server. With `tls` it accepts only encrypted connections with a client certificate. */
export async function startNode(folder: string, { args = [], tls = null }: NodeOptions = {}): Promise<RedisNode> {
  const port = findFreePort()
  const ports = tls
    ? [
        ...['--port', '0', '--tls-port', String(port), '--tls-replication', 'yes', '--tls-cluster', 'yes'],
        ...['--tls-ca-cert-file', tls.ca, '--tls-cert-file', tls.cert, '--tls-key-file', tls.key],
      ]
    : ['--port', String(port)]
  const always = [
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
    '--logfile',
    `${port}.log`,
  ]
  const cli = [engineAt('redis-cli'), '-h', tls ? 'localhost' : '127.0.0.1', '-p', String(port)]
  const secure = tls ? ['--tls', '--cacert', tls.ca, '--cert', tls.cert, '--key', tls.key] : []
  const server = createServerProcess({
    command: killWithTests([engineAt('redis-server'), ...ports, ...always, ...args]),
    stopSignal: 'SIGTERM',
    answers: async () => (await run([...cli, ...secure, 'ping'])).includes('PONG'),
  })
  await server.start()
  return {
    port,
    call: (...command) => run([...cli, ...secure, ...command.map(String)]),
    start: server.start,
    kill: server.kill,
    freeze: server.freeze,
    thaw: server.thaw,
  }
}

async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const output = await new Response(child.stdout).text()
  await child.exited
  return output.trim()
}

export interface RedisCluster {
  /** The value for REDIS_URL: the masters. */
  url: string
  /** Each master has a third of the slots, in this order. `replicas` are in the same order. */
  masters: RedisNode[]
  replicas: RedisNode[]
  remove(): Promise<void>
}

const MASTERS = 3
const SLOTS = 16_384

/** Starts a cluster. With certificates, nodes announce the certificates' host name. */
export async function startCluster(tls: Certificates | null = null): Promise<RedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-cluster-'))
  const startOne = (i: number) =>
    startNode(folder, {
      tls,
      args: [
        ...['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${i}.conf`, '--cluster-node-timeout', '1000'],
        // As the documentation recommends, the loss of a shard leaves the others in service.
        ...['--cluster-port', String(findFreePort()), '--cluster-require-full-coverage', 'no'],
        ...(tls ? ['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'] : []),
      ],
    })
  const nodes = await Promise.all(Array.from({ length: 2 * MASTERS }, (_, i) => startOne(i)))
  const [masters, replicas] = [nodes.slice(0, MASTERS), nodes.slice(MASTERS)]
  await formCluster(masters, replicas)
  const scheme = tls ? 'rediss://localhost' : 'redis://127.0.0.1'
  return {
    url: masters.map(({ port }) => `${scheme}:${port}`).join(','),
    masters,
    replicas,
    async remove() {
      await Promise.all(nodes.map(node => node.kill()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function formCluster(masters: RedisNode[], replicas: RedisNode[]): Promise<void> {
  const nodes = [...masters, ...replicas]
  const first = masters[0] as RedisNode
  for (const [i, node] of masters.entries()) {
    const [from, to] = [i, i + 1].map(at => Math.round((at * SLOTS) / masters.length)) as [number, number]
    await node.call('cluster', 'addslotsrange', from, to - 1)
    await node.call('cluster', 'set-config-epoch', i + 1)
  }
  for (const node of nodes) {
    const bus = String(await node.call('config', 'get', 'cluster-port')).split('\n')[1] ?? ''
    await first.call('cluster', 'meet', '127.0.0.1', node.port, bus)
  }
  const knowsAll = async (node: RedisNode) =>
    String(await node.call('cluster', 'nodes')).split('\n').length === nodes.length
  for (const node of nodes) await waitUntil('all nodes know each other', () => knowsAll(node))
  for (const [i, replica] of replicas.entries()) {
    const id = String(await masters[i]?.call('cluster', 'myid'))
    await waitUntil('the replica follows its master', async () =>
      String(await replica.call('cluster', 'replicate', id)).includes('OK'),
    )
  }
  for (const node of nodes) {
    await waitUntil('all slots are served', async () =>
      String(await node.call('cluster', 'info')).includes('cluster_state:ok'),
    )
  }
  for (const replica of replicas) {
    await waitUntil('replicas are up', async () =>
      String(await replica.call('info', 'replication')).includes('master_link_status:up'),
    )
  }
}

export interface SentinelGroup {
  url: string
  nodes: [RedisNode, RedisNode]
  remove(): Promise<void>
}

/** A master, a replica, and three Sentinels that monitor them. */
export async function startSentinels(): Promise<SentinelGroup> {
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-sentinels-'))
  const master = await startNode(folder)
  const replica = await startNode(folder, { args: ['--replicaof', '127.0.0.1', String(master.port)] })
  const ports = [findFreePort(), findFreePort(), findFreePort()]
  const sentinels = await Promise.all(ports.map(port => startSentinel(folder, port, master.port)))
  for (const port of ports) {
    const redis = new Redis(port, '127.0.0.1')
    await waitUntil('the Sentinels know each other and the replica', async () => {
      const state = Object.fromEntries(pairs((await redis.call('sentinel', 'master', 'mymaster')) as string[]))
      return state['num-slaves'] === '1' && state['num-other-sentinels'] === '2'
    })
    redis.disconnect()
  }
  return {
    url: `redis+sentinel://${ports.map(port => `127.0.0.1:${port}`).join(',')}/mymaster`,
    nodes: [master, replica],
    async remove() {
      await Promise.all([...sentinels, master, replica].map(server => server.kill()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startSentinel(folder: string, port: number, masterPort: number) {
  const config = join(folder, `sentinel-${port}.conf`)
  await Bun.write(
    config,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor mymaster 127.0.0.1 ${masterPort} 2`,
      'sentinel down-after-milliseconds mymaster 1000',
      'sentinel failover-timeout mymaster 5000',
      '',
    ].join('\n'),
  )
  const sentinel = createServerProcess({
    command: killWithTests([engineAt('redis-sentinel'), config]),
    stopSignal: 'SIGTERM',
    answers: async () => (await run([engineAt('redis-cli'), '-p', String(port), 'ping'])).includes('PONG'),
  })
  await sentinel.start()
  return sentinel
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? ''])
}

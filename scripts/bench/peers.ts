/**
 * Other gateways under the same load, in front of the same upstream: `bun run bench --peers --scenarios exact,miss-off,miss,stream`.
 *
 * Options: --folder FOLDER (where the peers are installed: see scripts/bench/peers; default peers) --address NAME=http://host:port (any
 * other that speaks OpenAI's API and asks the upstream that is printed; --key KEY goes along; its processor time is counted where --pid PID
 * is given; --caches where it keeps answers). GOMODEL=/path/to/gomodel: a peer that is built rather than installed.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { askOnce } from './measure.ts'
import { findFreePort, stop } from './processes.ts'
import { findFamily, findStoreProcesses } from './processor-time.ts'
import { chat } from './scenarios.ts'
import { findStores } from './stores.ts'
import type { Target, Upstream } from './targets.ts'

export const PEER_OPTIONS = {
  peers: { type: 'boolean', default: false },
  folder: { type: 'string', default: 'peers' },
  address: { type: 'string' },
  key: { type: 'string', default: 'bench' },
  pid: { type: 'string' },
  caches: { type: 'boolean', default: false },
} as const

interface PeerOptions {
  peers: boolean
  folder: string
  address?: string | undefined
  key: string
  pid?: string | undefined
  caches: boolean
}

interface Peer {
  name: string
  /** What exists when it is installed, from the folder. */
  installed: string
  /** Whether it keeps answers, as it is started here. */
  caches: boolean
  headers?(upstreamBaseUrl: string): Record<string, string>
}

const KEY = 'sk-bench'
/** LiteLLM takes a minute on a busy machine. */
const READY_TIME_LIMIT_MS = 300_000

const PEERS: readonly Peer[] = [
  { name: 'gomodel', installed: process.env.GOMODEL ?? 'gomodel', caches: true },
  { name: 'litellm', installed: 'litellm/bin/litellm', caches: true },
  {
    name: 'portkey',
    installed: 'portkey/node_modules/@portkey-ai/gateway',
    caches: false,
    headers: url => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': url }),
  },
]

export async function startPeers(options: PeerOptions, upstream: Upstream): Promise<Target[]> {
  process.stdout.write(`Upstream: ${upstream.baseUrl}\n`)
  const started: Target[] = []
  for (const peer of options.peers ? PEERS : []) {
    if (existsSync(resolve(options.folder, peer.installed))) started.push(await startPeer(peer, options, upstream))
    else
      process.stdout.write(`${peer.name} is not in ${options.folder}: scripts/bench/peers/${peer.name}.sh tells how\n`)
  }
  const [name, address] = options.address?.split(/=(.*)/s) ?? []
  if (name === undefined || address === undefined) return started
  const gateway = () => (options.pid === undefined ? [] : findFamily(Number(options.pid)))
  return [
    ...started,
    {
      ...targetOf({ name, caches: options.caches }, `${address.replace(/\/$/, '')}/v1`, options.key),
      processes: () => ({ gateway: gateway(), postgres: [], redis: [] }),
      stop: async () => {},
    },
  ]
}

async function startPeer(peer: Peer, { folder }: PeerOptions, upstream: Upstream): Promise<Target> {
  const port = findFreePort()
  const { redisUrl: REDIS_URL, databaseUrl: DATABASE_URL } = await findStores()
  const own = { UPSTREAM_BASE_URL: upstream.baseUrl, PORT: String(port), KEY, FOLDER: resolve(folder), REDIS_URL }
  const child = Bun.spawn([`scripts/bench/peers/${peer.name}.sh`], {
    env: { ...process.env, ...own },
    stdout: 'ignore',
    stderr: 'ignore',
    stdin: 'ignore',
  })
  const target: Target = {
    ...targetOf(peer, `http://127.0.0.1:${port}/v1`, KEY, peer.headers?.(upstream.baseUrl)),
    // None of them has a database here; Redis serves one gateway at a time.
    processes: () => ({
      ...findStoreProcesses({ DATABASE_URL, REDIS_URL }),
      gateway: findFamily(child.pid),
      postgres: [],
    }),
    stop: () => stop(child),
  }
  const deadline = performance.now() + READY_TIME_LIMIT_MS
  while (true) {
    try {
      await askOnce(target, '/chat/completions', chat('Are you there?'))
      return target
    } catch (error) {
      if (performance.now() > deadline) throw error
      await Bun.sleep(500)
    }
  }
}

function targetOf({ name, caches }: Pick<Peer, 'name' | 'caches'>, baseUrl: string, key: string, headers = {}) {
  const serves: Target['serves'] = caches ? ['HIT', 'MISS'] : ['MISS']
  return {
    name,
    baseUrl,
    headers: { authorization: `Bearer ${key}`, ...headers },
    serves,
    isFloor: false,
    stores: null,
  }
}

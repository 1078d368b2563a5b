/**
 * Measures other gateways under the same load, with the same upstream: `bun run bench --peers --scenarios exact,miss-off,miss,stream`.
 *
 * A gateway is included if its variable contains its path: GOMODEL=/path/to/gomodel LITELLM=/path/to/bin/litellm
 * PORTKEY=/path/to/build/start-server.js. --address NAME=http://host:port adds any other gateway that implements OpenAI's API and calls the
 * printed upstream; --key KEY is its API key, --pid PID the process whose processor time is counted, and --caches states that it caches
 * responses.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { askUntilAnswered } from './measure.ts'
import { findFreePort, killWithParent, stop } from './processes.ts'
import { findFamily, findStoreProcesses } from './processor-time.ts'
import { findStores } from './stores.ts'
import type { Target, Upstream } from './targets.ts'

export const PEER_OPTIONS = {
  peers: { type: 'boolean', default: false },
  address: { type: 'string' },
  key: { type: 'string', default: 'bench' },
  pid: { type: 'string' },
  caches: { type: 'boolean', default: false },
} as const

interface PeerOptions {
  peers: boolean
  address?: string | undefined
  key: string
  pid?: string | undefined
  caches: boolean
}

interface Peer {
  name: string
  /** Name of the environment variable with the program's path. */
  variable: string
  /** Whether it caches responses in this configuration. */
  caches: boolean
  headers?(upstreamBaseUrl: string): Record<string, string>
}

const KEY = 'sk-bench'
/** LiteLLM needs a minute to start on a busy machine. */
const READY_TIME_LIMIT_MS = 300_000

const PEERS: readonly Peer[] = [
  { name: 'gomodel', variable: 'GOMODEL', caches: true },
  { name: 'litellm', variable: 'LITELLM', caches: true },
  {
    name: 'portkey',
    variable: 'PORTKEY',
    caches: false,
    headers: url => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': url }),
  },
]

/** Returns the installed gateways, each with its program's path and a function that starts it. */
export function listPeers(
  options: PeerOptions,
  upstream: Upstream,
): { name: string; path: string; starting: () => Promise<Target> }[] {
  if (!options.peers && options.address === undefined) return []
  process.stdout.write(`Upstream: ${upstream.baseUrl}\n`)
  const listed = (options.peers ? PEERS : []).flatMap(peer => {
    const { [peer.variable]: path } = process.env
    if (path && existsSync(path))
      return [{ name: peer.name, path: resolve(path), starting: () => startPeer(peer, resolve(path), upstream) }]
    process.stdout.write(`${peer.name} does not take part: ${peer.variable} is not the path of its program\n`)
    return []
  })
  const [name, address] = options.address?.split(/=(.*)/s) ?? []
  if (name === undefined || address === undefined) return listed
  const gateway = () => (options.pid === undefined ? [] : findFamily(Number(options.pid)))
  const target: Target = {
    ...targetOf({ name, caches: options.caches }, `${address.replace(/\/$/, '')}/v1`, options.key),
    processes: () => ({ gateway: gateway(), postgres: [], redis: [] }),
    stop: async () => {},
  }
  return [...listed, { name, path: '', starting: async () => target }]
}

async function startPeer(peer: Peer, path: string, upstream: Upstream): Promise<Target> {
  const port = findFreePort()
  const { redisUrl: REDIS_URL, databaseUrl: DATABASE_URL } = await findStores()
  const own = { UPSTREAM_BASE_URL: upstream.baseUrl, PORT: String(port), KEY, REDIS_URL, [peer.variable]: path }
  const child = Bun.spawn(killWithParent([`scripts/bench/peers/${peer.name}.sh`]), {
    env: { ...process.env, ...own },
    stdout: 'ignore',
    stderr: 'ignore',
    stdin: 'ignore',
  })
  const target: Target = {
    ...targetOf(peer, `http://127.0.0.1:${port}/v1`, KEY, peer.headers?.(upstream.baseUrl)),
    // These gateways have no database in this benchmark, and Redis serves one gateway at a time.
    processes: () => ({
      ...findStoreProcesses({ DATABASE_URL, REDIS_URL }),
      gateway: findFamily(child.pid),
      postgres: [],
    }),
    stop: () => stop(child),
  }
  return askUntilAnswered(child, READY_TIME_LIMIT_MS, () => target)
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

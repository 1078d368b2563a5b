/** The programs under load: this proxy in any version, or a floor, which does less than a proxy has to do. */
import { resolve } from 'node:path'
import type { Subprocess } from 'bun'
import { findFreePort, startAndRead, type startProxyProcess, stop } from './processes.ts'
import { findFamily, findStoreProcesses } from './processor-time.ts'
import type { Scenario } from './scenarios.ts'
import type { BenchStores } from './stores.ts'

export interface Target {
  name: string
  /** Ends in /v1. */
  baseUrl: string
  headers: Record<string, string>
  /** The cache results that it can return; for a floor, those of which it is the floor. */
  serves: readonly Scenario['expects'][]
  isFloor: boolean
  /** Null if it has no stores of its own. */
  stores: BenchStores | null
  /** Its process ids and those of its stores. Read anew each time, because PostgreSQL has a process per connection. */
  processes(): { gateway: number[]; postgres: number[]; redis: number[] }
  stop(): Promise<unknown>
}

export interface Upstream {
  /** Ends in /v1. */
  baseUrl: string
  pid: number
  /** Sets its behaviour for later requests. */
  script(scenario: object): Promise<unknown>
  /** Requests received so far, requests in flight, and open connections, including the connection of this call. */
  counts(): Promise<Record<'total' | 'active' | 'openConnections', number>>
  stop(): Promise<unknown>
}

/** Starts the fake provider in a separate process. */
export async function startUpstream(): Promise<Upstream> {
  const { process: child, firstLine } = await startAndRead('test/fake-provider/main.ts', ['--port', '0'])
  const { baseUrl } = JSON.parse(firstLine) as { baseUrl: string }
  return {
    baseUrl,
    pid: child.pid,
    script: scenario => fetch(new URL('/__script', baseUrl), { method: 'PUT', body: JSON.stringify(scenario) }),
    counts: async () => (await fetch(new URL('/__counts', baseUrl))).json() as ReturnType<Upstream['counts']>,
    stop: () => stop(child),
  }
}

/** Starts a proxy with its own database, from the code and schema of the checkout at `root`. */
export async function startProxy(
  name: string,
  upstream: Upstream,
  root = '.',
): Promise<Target & { stores: BenchStores }> {
  const port = findFreePort()
  const { proxy, stores } = await inFolder(root, async () => {
    const { prepareStores } = (await import(resolve('scripts/bench/stores.ts'))) as typeof import('./stores.ts')
    const starting = (await import(resolve('scripts/bench/processes.ts'))) as {
      startProxyProcess: typeof startProxyProcess
    }
    const stores = await prepareStores()
    const environment = { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'bench', METRICS_PORT: '0' }
    const proxy = await starting
      .startProxyProcess({ ...stores.environment, ...environment }, port)
      .catch(async error => {
        await stores.drop()
        throw error
      })
    return { proxy, stores }
  })
  return {
    name,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    headers: { authorization: `Bearer ${stores.key}` },
    serves: ['HIT', 'HIT-SEMANTIC', 'MISS'],
    isFloor: false,
    stores,
    processes: () => ({ gateway: findFamily(proxy.pid), ...findStoreProcesses(stores.environment) }),
    async stop() {
      await stop(proxy)
      await stores.drop()
    },
  }
}

async function inFolder<T>(folder: string, run: () => Promise<T>): Promise<T> {
  const home = process.cwd()
  process.chdir(resolve(folder))
  try {
    return await run()
  } finally {
    process.chdir(home)
  }
}

/** The floor of hits: bare Elysia, which returns the parsed body. */
export async function startEcho(): Promise<Target> {
  const { process: child, firstLine: port } = await startAndRead('scripts/bench/echo.ts')
  return floorOf('echo', child, port, ['HIT', 'HIT-SEMANTIC'])
}

/** The floor of misses: a `fetch` of the upstream. */
export async function startForwarder({ baseUrl }: Upstream): Promise<Target> {
  // Bun's default limit of concurrent requests is lower than the connections of `stream-crowd`.
  const environment = { UPSTREAM_BASE_URL: baseUrl, BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }
  const { process: child, firstLine: port } = await startAndRead('scripts/bench/forwarder.ts', [], environment)
  return floorOf('forwarder', child, port, ['MISS'])
}

function floorOf(name: string, child: Subprocess, port: string, serves: Target['serves']): Target {
  return {
    name,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    headers: {},
    serves,
    isFloor: true,
    stores: null,
    processes: () => ({ gateway: [child.pid], postgres: [], redis: [] }),
    stop: () => stop(child),
  }
}

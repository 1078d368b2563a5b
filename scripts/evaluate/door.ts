/** Sends pairs over HTTP to a separate proxy. Each pair has its own namespace: the first text is stored, the second is looked up. */
import { openRealDatabase } from '../../src/postgres/real.ts'
import { startStandin } from '../../test/standin/server.ts'
import { findFreePort, startProxyProcess, stop } from '../bench/processes.ts'
import { prepareStores } from '../bench/stores.ts'
import type { LabelledPair } from './pairs.ts'

export interface Door {
  /** Whether the second text got the first one's response. */
  isServed(pair: LabelledPair, threshold: number): Promise<boolean>
  /** Sets settings of the project by name. */
  set(settings: Readonly<Record<string, string>>): Promise<void>
  query<Row>(text: string): Promise<Row[]>
  close(): Promise<void>
}

/** Starts a simulated upstream and a proxy on its own database, with limits too high to matter. */
export async function openDoor(): Promise<Door> {
  const stores = await prepareStores()
  const upstream = await startStandin({ flavour: 'aggregator', keepsRequests: false })
  const port = findFreePort()
  const environment = {
    ...stores.environment,
    AGGREGATOR_BASE_URL: upstream.baseUrl,
    AGGREGATOR_API_KEY: 'evaluate',
    METRICS_PORT: String(findFreePort()),
  }
  const proxy = await startProxyProcess(environment, port)
  const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
  let asked = 0

  async function ask(content: string, namespace: string, threshold: number): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stores.key}`,
        'content-type': 'application/json',
        'x-proxy-cache-namespace': namespace,
        'x-proxy-cache-threshold': String(threshold),
      },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`The proxy answered ${response.status}`)
    return response.headers.get('x-proxy-cache') ?? ''
  }

  return {
    async isServed(pair, threshold) {
      asked += 1
      const namespace = `pair-${asked}`
      await ask(pair.a, namespace, threshold)
      return (await ask(pair.b, namespace, threshold)) !== 'MISS'
    },
    async set(settings) {
      await database.call(`select set_settings('bench', $1::jsonb)`, [JSON.stringify(settings)])
    },
    query: text => database.call(text, []),
    async close() {
      await stop(proxy)
      await upstream.stop()
      await database.close()
      await stores.drop()
    },
  }
}

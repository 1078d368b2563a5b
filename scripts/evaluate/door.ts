/** Asks a proxy of its own, over HTTP: each pair in a namespace of its own, its first text to be stored, its second to be looked up. */
import { openRealDatabase } from '../../src/postgres/real.ts'
import { findFreePort, startAndRead, startProxyProcess, stop } from '../bench/processes.ts'
import { prepareStores } from '../bench/stores.ts'
import type { LabelledPair } from './pairs.ts'

export type Policy = 'proved' | 'threshold'

export interface Door {
  /** Whether the second text was served the first one's answer. */
  isServed(pair: LabelledPair, threshold: number): Promise<boolean>
  setPolicy(policy: Policy): Promise<void>
  close(): Promise<void>
}

/** Starts a stand-in upstream and a proxy on a database of its own, with limits that do not matter. */
export async function openDoor(): Promise<Door> {
  const stores = await prepareStores()
  const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
  const port = findFreePort()
  const environment = {
    ...stores.environment,
    AGGREGATOR_BASE_URL: JSON.parse(upstream.firstLine).baseUrl,
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
    async setPolicy(policy) {
      await database.runScript(`select set_setting('bench', 'semantic_policy', '${policy}')`)
    },
    async close() {
      await stop(proxy)
      await stop(upstream.process)
      await database.close()
      await stores.drop()
    },
  }
}

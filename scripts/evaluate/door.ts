/** Sends pairs over HTTP to a separate proxy. Each pair has its own namespace: the first text is stored, the second is looked up. */
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask } from '../../test/harness/client.ts'
import { startProxy, startUpstream } from '../bench/targets.ts'
import type { LabelledPair } from './pairs.ts'

export interface EndpointCase {
  /** Whether the second text got the first one's response. */
  isServed(pair: LabelledPair, threshold: number): Promise<boolean>
  /** Sets settings of the project by name. */
  set(settings: Readonly<Record<string, string>>): Promise<void>
  close(): Promise<void>
}

/** Starts a fake provider and a proxy with its own database and limits that the evaluation does not reach. */
export async function openDoor(): Promise<EndpointCase> {
  const upstream = await startUpstream()
  const proxy = await startProxy('evaluate', upstream)
  const database = openServerDatabase({ url: proxy.stores.environment.DATABASE_URL, maxConnections: 1 })
  let asked = 0
  const set = (settings: Readonly<Record<string, string>>) =>
    database.call(`select set_settings('bench', $1::jsonb)`, [JSON.stringify(settings)])
  // A request can only raise its project's threshold.
  await set({ semantic_threshold: '0' })
  return {
    async isServed(pair, threshold) {
      asked += 1
      const headers = { 'x-proxy-cache-namespace': `pair-${asked}`, 'x-proxy-cache-threshold': String(threshold) }
      const [first, second] = [
        await ask(proxy, proxy.stores.key, pair.a, headers),
        await ask(proxy, proxy.stores.key, pair.b, headers),
      ]
      if (first.status !== 200 || second.status !== 200)
        throw new Error(`expected 200 from the proxy, got ${first.status} and ${second.status}`)
      return second.cache !== 'MISS'
    },
    async set(settings) {
      await set(settings)
    },
    async close() {
      await database.close()
      await proxy.stop()
      await upstream.stop()
    },
  }
}

/** Starts a proxy in front of a replaying upstream, on temporary embedded stores, with a project that can use every provider. */
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../../test/harness/direct-upstreams.ts'
import { startProxy } from '../../test/harness/proxy.ts'

/** `upstream` is an address without /v1. */
export async function startOwnProxy(upstream: string) {
  const database = await openEmbeddedDatabase({ directory: null, psql: null })
  await migrate(database)
  const store = createInProcessStore()
  const proxy = await startProxy({
    stores: { database, store, databaseUrl: null, redisUrl: null },
    environment: {
      AGGREGATOR_BASE_URL: `${upstream}/v1`,
      AGGREGATOR_API_KEY: 'replay',
      AGGREGATOR_SPEAKS: 'all',
      OPENAI_BASE_URL: `${upstream}/v1`,
      GROQ_BASE_URL: `${upstream}/v1`,
      ANTHROPIC_BASE_URL: upstream,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    },
  })
  const key = await proxy.createKey({ project: 'replay', type: 'project' })
  for (const provider of ['openai', 'anthropic', 'groq'] as const)
    await storeKey({ database }, 'replay', provider, 'replay')
  return {
    baseUrl: proxy.baseUrl.replace(/\/v1$/, ''),
    key,
    async stop() {
      await proxy.stop()
      await Promise.all([database.close(), store.close()])
    },
  }
}

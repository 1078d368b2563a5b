/** Starts a proxy in front of a replaying upstream, on temporary embedded stores, with a project that can use every provider. */

import { createEmbedder } from '../../src/cache/embedders/create-embedder.ts'
import { readConfig } from '../../src/config/config.ts'
import { call } from '../../src/postgres/call.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { createApp } from '../../src/process/app.ts'
import { createVault } from '../../src/providers/keys/vault.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { createLog } from '../../src/telemetry/log.ts'

/** `upstream` is an address without /v1. */
export async function startOwnProxy(upstream: string) {
  const encryptionKey = Buffer.from(crypto.getRandomValues(new Uint8Array(32)))
  const config = readConfig({
    PORT: '0',
    AGGREGATOR_BASE_URL: `${upstream}/v1`,
    AGGREGATOR_API_KEY: 'replay',
    AGGREGATOR_SPEAKS: 'all',
    OPENAI_BASE_URL: `${upstream}/v1`,
    GROQ_BASE_URL: `${upstream}/v1`,
    ANTHROPIC_BASE_URL: upstream,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
  })
  const log = createLog('silent')
  const database = await openEmbeddedDatabase({ directory: null, psql: null })
  await migrate(database)
  await call(database, 'create_project', { project: 'replay', plan: 'enterprise' })
  const projectId = await call(database, 'find_project', { project: 'replay' })
  const vault = createVault(async () => ({ current: encryptionKey, previous: null }))
  for (const provider of ['openai', 'anthropic', 'groq'] as const) {
    await call(database, 'store_provider_key', {
      owner_id: projectId,
      provider,
      sealed: await vault.seal('replay', { projectId, provider }),
      last_four: 'play',
      name: 'default',
      weight: null,
    })
  }
  const key = await call(database, 'issue_key', { project: 'replay', key_type: 'project', key_name: 'replay' })
  const store = createInProcessStore()
  const embedder = await createEmbedder(config.embedder, log)
  const app = await createApp({ config, database, store, embedder, log })
  app.http.listen({ port: 0, hostname: '127.0.0.1' })
  return {
    baseUrl: `http://127.0.0.1:${app.http.server?.port}`,
    key,
    async stop() {
      await app.http.server?.stop(true)
      await app.flush(5_000)
      await app.close()
      await embedder.close()
      await Promise.all([database.close(), store.close()])
    },
  }
}

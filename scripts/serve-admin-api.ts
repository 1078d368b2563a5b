/** Serves the admin API on a database in memory, for checks from outside; prints its address and an administrator's key. */
import { openEmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createInProcessStore } from '../src/stores/in-process-store.ts'
import { TEST_ENCRYPTION_KEY } from '../test/harness/direct-upstreams.ts'
import { startProxy } from '../test/harness/proxy.ts'

const database = await openEmbeddedDatabase({ directory: null, psql: null })
await migrate(database)
const stores = { database, store: createInProcessStore(), databaseUrl: null, redisUrl: null }
const proxy = await startProxy({ dashboard: true, stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } })
await proxy.query(`select create_user('root@example.org', 'owner')`)
const [issued] = await proxy.query<{ key: string }>(`select key from issue_admin_key('root@example.org', 'checks')`)
process.stdout.write(`${proxy.baseUrl.slice(0, -'/v1'.length)} ${issued?.key}\n`)

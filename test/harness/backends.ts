/** Runs tests on each backend there is: embedded always, real where DATABASE_URL and REDIS_URL are set. */
import { randomBytes } from 'node:crypto'
import { afterAll, describe, inject } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { readInstallationId } from '../../src/postgres/installation-id.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { connectRedis } from '../../src/redis/connect-redis.ts'
import { openProcessBus, type ProcessBus } from '../../src/redis/process-bus.ts'
import { openRedisStore } from '../../src/redis/redis-store.ts'
import { createEntryTags } from '../../src/stores/entry-tags.ts'
import type { FastStore } from '../../src/stores/fast-store.ts'
import { guardStore } from '../../src/stores/guarded-store.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { type TaggedEntries, tagEntries } from '../../src/stores/tagged-store.ts'

export interface Stores {
  database: Database
  store: FastStore
  /** For processes of their own, and for psql; null where the backend has none. */
  databaseUrl: string | null
  redisUrl: string | null
  /** Of what is in Redis, where there is one. */
  entries?: TaggedEntries
}

export interface Backend {
  name: 'embedded' | 'real'
  /** Stores of the group's own, migrated and emptied of what an earlier test left; closed and dropped after the group. */
  open(): Promise<Stores>
}

/** Defines the tests once for each backend. */
export function describeBackends(title: string, define: (backend: Backend) => void): void {
  describe(`${title} (embedded)`, () => define(shared('embedded', openEmbedded)))
  if (inject('real')) describe(`${title} (real)`, () => define(shared('real', openReal)))
}

/** Defines the tests on the embedded backend alone, for what knows nothing of stores and takes its time. */
export function describeEmbedded(title: string, define: (backend: Backend) => void): void {
  describe(title, () => define(shared('embedded', openEmbedded)))
}

/** Defines the tests on real stores alone, for what the embedded backend cannot do: several processes, faults. */
export function describeReal(title: string, define: (backend: Backend) => void): void {
  describe.skipIf(!inject('real'))(`${title} (real)`, () => define(shared('real', openReal)))
}

interface OpenStores extends Stores {
  close(): Promise<void>
}

/** Opens once, at first need; empties each time. */
function shared(name: Backend['name'], open: () => Promise<OpenStores>): Backend {
  let opened: Promise<OpenStores> | null = null
  afterAll(async () => {
    await (await opened)?.close()
  })
  return {
    name,
    async open() {
      opened ??= open()
      const stores = await opened
      await stores.database.runScript(EMPTY)
      return stores
    },
  }
}

const TABLES = [
  'projects, api_keys, provider_keys, monthly_counters, kept_objects',
  'cache_entries, cache_prompts, cache_groups, cache_sizes, cache_size_changes, cached_vectors',
  'cache_verdicts, semantic_hits, judge_spending, judge_queue, learned_equivalences',
  'usage_records, usage_pending, usage_hourly, usage_daily, usage_monthly, usage_totals, latency_hourly, latency_daily, latency_monthly, refusals_hourly',
  'users, memberships, invitations, sessions, login_attempts, admin_keys, audit_log',
].flatMap(line => line.split(', '))

/**
 * Ids go on counting: no test finds in Redis what another left there. Rows are deleted, which takes a twentieth of the time that
 * truncating the many small tables would; as a replica does it, without triggers and foreign keys, so that the order says nothing.
 */
const EMPTY = `
  set session_replication_role = replica;
  ${TABLES.map(table => `delete from ${table};`).join('\n  ')}
  reset session_replication_role;
  select drop_unused_cache_graphs();
  delete from plans where name not in ('free', 'pro', 'enterprise');
`

async function openEmbedded(): Promise<OpenStores> {
  const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
  const database = await openEmbeddedDatabase({ directory: null, psql: null, template })
  const store = createInProcessStore()
  return {
    database,
    store,
    databaseUrl: null,
    redisUrl: null,
    async close() {
      await Promise.all([database.close(), store.close()])
    },
  }
}

async function openReal(): Promise<OpenStores> {
  const real = inject('real')
  if (!real) throw new Error('No real stores are configured')
  const name = `mp_test_${randomBytes(6).toString('hex')}`
  const admin = openRealDatabase({ url: real.adminUrl, maxConnections: 1 })
  await admin.runScript(`create database ${name} template ${real.template}`)
  const url = new URL(real.adminUrl)
  url.pathname = `/${name}`
  const database = openRealDatabase({ url: url.href })
  const installationId = await readInstallationId(database)
  // As a proxy without an ENCRYPTION_KEY does.
  const tags = createEntryTags({ current: Buffer.from(installationId), previous: null }, installationId)
  const guarded = guardStore(openRedisStore(connectRedis(real.redisUrl), installationId))
  const store = tagEntries(guarded, { tags, onWrong: () => {} })
  await waitForRedis(store)
  return {
    database,
    store,
    databaseUrl: url.href,
    redisUrl: real.redisUrl,
    entries: store,
    async close() {
      await Promise.all([database.close(), store.close()])
      await admin.runScript(`drop database ${name} with (force)`)
      await admin.close()
    },
  }
}

/** As each process has one. `close` it. */
export async function openBus({ database, redisUrl, entries }: Stores): Promise<ProcessBus> {
  if (redisUrl === null || !entries) throw new Error('There is no Redis')
  const redis = connectRedis(redisUrl)
  const bus = openProcessBus({
    redis,
    url: redisUrl,
    installationId: await readInstallationId(database),
    entries,
  })
  return {
    ...bus,
    async close() {
      await bus.close()
      redis.disconnect()
    },
  }
}

async function waitForRedis(store: FastStore): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await store.ping()
    } catch (error) {
      if (attempt > 50) throw error
      await Bun.sleep(20)
    }
  }
}

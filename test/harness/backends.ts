/** Runs tests on the embedded backend, or on the real one if DATABASE_URL and REDIS_URL are set; at full depth on both. */

import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, inject } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { createFallbackStore } from '../../src/stores/fallback-store.ts'
import type { FastStore } from '../../src/stores/fast-store.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { connectRedis } from '../../src/stores/redis/connect-redis.ts'
import { openProcessBus, type ProcessBus } from '../../src/stores/redis/process-bus.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { createEntrySigner, createSignedStore, type SignedEntries } from '../../src/stores/signed-store.ts'
import { checkFunctionTypes, undeclaredNulls } from './check-function-types.ts'
import { emptyDatabase } from './empty-database.ts'
import { createDistributedDatabase } from './make-distributed.ts'
import { OLDER_PARTITION } from './older-partition.ts'
import { runAsAdmin } from './run-as-admin.ts'
import { nameTablesIn } from './search-path.ts'
import { openSharedEmbedded } from './shared-embedded.ts'
import { waitUntil } from './wait-until.ts'

export interface Stores {
  database: Database
  store: FastStore
  /** URLs for child processes and psql. Null if the backend has none. */
  databaseUrl: string | null
  redisUrl: string | null
  /** Signs the entries in Redis. Undefined without Redis. */
  entries?: SignedEntries
}

export interface Backend {
  name: 'embedded' | 'real'
  /** Opens stores for this group of tests: migrated, and without data of earlier tests. The harness closes them. */
  open(): Promise<Stores>
}

/** Defines the tests on the real backend if it is configured, else on the embedded one; at full depth on both. */
export function describeBackends(title: string, define: (backend: Backend) => void): void {
  const hasReal = inject('real') !== null
  if (inject('depth').isFull || !hasReal)
    describe(`${title} (embedded)`, () => define(shared('embedded', openEmbedded)))
  if (hasReal) describe(`${title} (real)`, () => define(shared('real', openReal)))
}

/** Defines the tests on the embedded backend only, for slow tests that do not depend on the stores. */
export function describeEmbedded(title: string, define: (backend: Backend) => void): void {
  describe(title, () => define(shared('embedded', openEmbedded)))
}

/** Defines the tests on one backend, the real one if it is configured: for behaviour that other tests compare between backends. */
export function describeOnce(title: string, define: (backend: Backend) => void): void {
  const [name, open] = inject('real') ? (['real', openReal] as const) : (['embedded', openEmbedded] as const)
  describe(`${title} (${name})`, () => define(shared(name, open)))
}

/** Defines the tests on real stores only: for several processes and faults, which the embedded backend cannot run. */
export function describeReal(title: string, define: (backend: Backend) => void): void {
  describe.skipIf(!inject('real'))(`${title} (real)`, () => define(shared('real', openReal)))
}

interface OpenStores extends Stores {
  close(): Promise<void>
}

/** Opens the stores at the first call and empties them at each call. */
function shared(name: Backend['name'], open: () => Promise<OpenStores>): Backend {
  let opened: Promise<OpenStores> | null = null
  afterAll(async () => {
    await (await opened)?.close()
    expect([...undeclaredNulls]).toEqual([])
  })
  return {
    name,
    async open() {
      opened ??= open()
      const stores = await opened
      await emptyDatabase(stores.database)
      return stores
    },
  }
}

async function openEmbedded(): Promise<OpenStores> {
  const store = createInProcessStore()
  return { database: await openSharedEmbedded(), store, databaseUrl: null, redisUrl: null, close: () => store.close() }
}

async function openReal(): Promise<OpenStores> {
  const real = inject('real')
  if (!real) throw new Error('No real stores are configured')
  const name = `mp_test_${randomBytes(6).toString('hex')}`
  const url = new URL(real.adminUrl)
  url.pathname = `/${name}`
  if (real.isCluster) await createDistributedDatabase(name, url.href)
  else await runAsAdmin(real.adminUrl, `create database ${name} template ${real.template}`)
  await runAsAdmin(real.adminUrl, nameTablesIn(name))
  const database = checkFunctionTypes(openServerDatabase({ url: url.href }))
  if (real.isCluster) await database.runScript(OLDER_PARTITION)
  const installationId = await callFunction(database, 'installation_id', {})
  // Derives the key from the installation id, as a proxy without an ENCRYPTION_KEY does.
  const tags = createEntrySigner({ current: Buffer.from(installationId), others: [] }, installationId)
  const guarded = createFallbackStore(openRedisStore(connectRedis(real.redisUrl), installationId))
  const store = createSignedStore(guarded, { signer: tags, onInvalidSignature: () => {} })
  await waitForRedis(store)
  return {
    database,
    store,
    databaseUrl: url.href,
    redisUrl: real.redisUrl,
    entries: store,
    async close() {
      await Promise.all([database.close(), store.close()])
      // The cluster is deleted with its databases.
      if (!real.isCluster) await runAsAdmin(real.adminUrl, `drop database ${name} with (force)`)
    },
  }
}

/** Opens a bus as each process has one, and waits until it receives its own messages. The caller closes it with `close`. */
export async function openBus({ database, redisUrl, entries }: Stores): Promise<ProcessBus> {
  if (redisUrl === null || !entries) throw new Error('There is no Redis')
  const redis = connectRedis(redisUrl)
  const opened = openProcessBus({
    redis,
    listener: connectRedis(redisUrl, { isSubscriber: true }),
    installationId: await callFunction(database, 'installation_id', {}),
    entries,
    store: { runGuarded: (_name, run) => run() },
    isOnlyProcess: () => false,
  })
  const bus = {
    ...opened,
    async close() {
      await opened.close()
      redis.disconnect()
    },
  }
  // Receivers ignore an empty message.
  await waitUntil('the bus receives its own message', () =>
    bus.send(bus.processId, new Uint8Array(0)).catch(() => false),
  )
  return bus
}

/** Waits until the store's connection is open; before that, commands fail immediately. */
export async function waitForRedis(store: FastStore): Promise<void> {
  const isOpen = () =>
    store.ping().then(
      () => true,
      () => false,
    )
  // On a busy machine a connection can take longer than a second, and the store then retries.
  await waitUntil('Redis responds', isOpen)
}

/** Imports keys, budgets and models from GoModel's configuration and database: clients keep their keys, and a second run changes nothing. */
import { Database } from 'bun:sqlite'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { type GoModelImportOptions, importGoModel } from '../../src/process/commands/import.ts'
import { readGoModelConfig, readGoModelDatabase } from '../../src/process/import/gomodel-source.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { findBlock, runDocsBlock } from '../harness/docs-blocks.ts'
import { duringTests } from '../harness/during-tests.ts'
import {
  budgetRow,
  createGoModelDatabase,
  insertRow,
  keyRow,
  redirectRow,
  toPostgres,
  usageRow,
} from '../harness/gomodel-database.ts'
import { startProxy } from '../harness/proxy.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const FOLDER = createTemporaryDirectory()
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
const CONFIG = readConfig({ ENCRYPTION_KEY })
const ENVIRONMENT = { EU_API_KEY: 'sk-vendor-eu' }

const MONTH = 2_592_000
const past = Math.floor(Date.now() / 1000) - 60
const ROWS = {
  auth_keys: [
    keyRow('search-app', { user_path: '/search' }),
    keyRow('search-batch', { user_path: '/search/batch' }),
    keyRow('blocked', { user_path: '/search', enabled: 0 }),
    keyRow('expired', { user_path: '/search', expires_at: past }),
    keyRow('narrow', { user_path: '/search', allowed_models: '["openai/gpt-4o"]' }),
    keyRow('pathless', { dashboard_access: 1 }),
  ],
  budgets: [budgetRow('/search', MONTH, 50), budgetRow('/search/batch', MONTH, 20), budgetRow('/', MONTH, 900)],
  rate_limits: [
    { subject: '/search/batch', period_seconds: 60, max_requests: 30, max_tokens: null, created_at: 1, updated_at: 1 },
  ],
  virtual_models: [redirectRow('fast', ['eu/gpt-4o-mini'])],
  usage: [usageRow('/search/batch', 1.25), usageRow('/search', 2.5), usageRow('/search', 40, { cache_type: 'exact' })],
}

let files = 0
const newPath = () => join(FOLDER, `${++files}.db`)

const upstreams = duringTests(startUpstreams)

const yaml = (base: string) =>
  `providers:\n  eu:\n    type: openai\n    base_url: ${base}\n    api_key: "\${EU_API_KEY}"\n`

describeBackends('import gomodel', backend => {
  let stores: Stores
  let path: string
  let configPath: string
  beforeEach(async () => {
    stores = await backend.open()
    path = newPath()
    createGoModelDatabase(path, ROWS).close()
    configPath = `${path}.yaml`
    writeFileSync(configPath, yaml(upstreams.environment.OPENAI_BASE_URL ?? ''))
  })

  async function importAll(options: Partial<GoModelImportOptions> = {}): Promise<string> {
    return importGoModel(stores.database, CONFIG, {
      config: await readGoModelConfig(configPath, ENVIRONMENT),
      source: await readGoModelDatabase(path),
      ...{ isDryRun: false, plan: 'enterprise', project: 'personal', keysUntil: undefined, environment: ENVIRONMENT },
      ...options,
    })
  }

  const TABLES = ['projects', 'api_keys', 'budgets', 'budget_periods', 'vendors', 'vendor_keys', 'audit_log']
  async function readAll(): Promise<string> {
    const texts = TABLES.map(async table => {
      const rows = await stores.database.call(`select to_jsonb(t) as row from ${table} t order by t::text`, [])
      return `${table} ${JSON.stringify(rows)}`
    })
    return (await Promise.all(texts)).join('\n')
  }

  const budgets = () =>
    stores.database.call(
      `select p.name as project, k.name as key, b.per, b.amount::double precision as amount, c.spent::double precision as spent
       from budgets b join projects p on p.id = b.project_id left join api_keys k on k.id = b.key_id
       join budget_periods c on c.budget_id = b.id where p.imported_id is not null order by k.name nulls first`,
      [],
    )

  test('clients keep their keys; blocked, expired and other keys are rejected', async () => {
    await importAll()
    const proxy = await startProxy({ stores, environment: { ENCRYPTION_KEY } })
    try {
      const send = (apiKey: string, model = 'fast') =>
        new OpenAI({ apiKey, baseURL: proxy.baseUrl, maxRetries: 0 }).chat.completions.create({
          model,
          messages: [{ role: 'user', content: 'Hello' }],
        })
      for (const key of ['sk_gom_search-app', 'sk_gom_search-batch', 'sk_gom_pathless'])
        expect((await send(key)).choices[0]?.message.content).toBeTruthy()
      await expect(send('sk_gom_narrow')).rejects.toMatchObject({ status: 403 })
      await expect(send('sk_gom_blocked')).rejects.toMatchObject({ status: 403, code: 'api_key_disabled' })
      // The rest of a key, and its hashes, are none.
      const stored = Bun.SHA256.hash('search-app', 'hex')
      for (const key of ['sk_gom_expired', 'search-app', stored, `sk_gom_${stored}`, 'sk_gom_absent'])
        await expect(send(key)).rejects.toMatchObject({ status: 401 })
    } finally {
      await proxy.stop()
    }
  })

  test('a dry run changes nothing, a second run neither, and one after spending counts the difference', async () => {
    await importAll({ source: null, config: null, keysUntil: null })
    const empty = await readAll()
    const dry = await importAll({ isDryRun: true })
    expect(await readAll()).toBe(empty)
    for (const line of ['GOMODEL', 'key: 6 new', 'project: 2 new', 'budget of /', 'key dashboard_access'])
      expect(dry).toContain(line)
    expect(dry).not.toContain('sk-vendor-eu')

    await importAll()
    expect(await budgets()).toEqual([
      { project: 'search', key: null, per: 'month', amount: 50, spent: 3.75 },
      { project: 'search', key: 'search-batch', per: 'month', amount: 20, spent: 1.25 },
    ])
    const before = await readAll()
    expect(await importAll()).toContain('key: 0 new, 0 changed, 6 unchanged')
    expect(await readAll()).toBe(before)

    const database = new Database(path)
    insertRow(database, 'usage', usageRow('/search', 1))
    database.run(`update auth_keys set enabled = 0, deactivated_at = 1 where id = 'search-app'`)
    database.run(`delete from auth_keys where id = 'narrow'`)
    database.close()
    expect(await importAll()).toContain('key: 0 new, 2 changed')
    expect(await budgets()).toMatchObject([{ spent: 4.75 }, { spent: 1.25 }])
    const [{ names } = { names: [] }] = await stores.database.call<{ names: string[] }>(
      `select array_agg(name order by name) as names from api_keys where is_imported and deactivated_at is not null`,
      [],
    )
    expect(names).toEqual(['blocked', 'narrow', 'search-app'])
  })

  test('sets the limits of keys, and an alias for a redirect', async () => {
    await importAll()
    const keys = await stores.database.call(
      `select name, requests_per_minute, allowed_models from api_keys where is_imported and (requests_per_minute, allowed_models) is distinct from (null, null) order by name`,
      [],
    )
    expect(keys).toEqual([
      { name: 'narrow', requests_per_minute: null, allowed_models: ['openai/gpt-4o'] },
      { name: 'search-batch', requests_per_minute: 30, allowed_models: null },
    ])
    const projects = await stores.database.call(
      `select name, aliases, allowed_models from projects where imported_id like 'gomodel:%' order by name`,
      [],
    )
    const both = { aliases: ['fast=eu/gpt-4o-mini'], allowed_models: [] }
    expect(projects).toEqual([
      { name: 'personal', ...both },
      { name: 'search', ...both },
    ])
  })
})

test('reads PostgreSQL as it reads SQLite', async () => {
  const path = newPath()
  createGoModelDatabase(path, ROWS).close()
  const server = await openEmbeddedDatabase({ directory: null, psql: { port: 0, password: 'gomodel' } })
  try {
    await server.runScript(toPostgres(ROWS))
    const url = `postgres://postgres:gomodel@127.0.0.1:${server.psqlPort}/postgres?sslmode=disable`
    const [expected, read] = [await readGoModelDatabase(path), await readGoModelDatabase(url)]
    expect(read.spent).toEqual(expected.spent)
    const columns = ['secret_hash', 'user_path', 'subject', 'source', 'amount', 'begin', 'max_requests', 'expires_at']
    for (const table of ['auth_keys', 'budgets', 'rate_limits', 'virtual_models'] as const)
      expect(read[table].map(row => columns.map(name => row[name]))).toEqual(
        expected[table].map(row => columns.map(name => row[name])),
      )
    expect(read.auth_keys.filter(({ enabled }) => enabled === false).map(({ id }) => id)).toEqual(['blocked'])
  } finally {
    await server.close()
  }
}, 120_000)

test('the commands of the docs import into an embedded database', async () => {
  const folder = createTemporaryDirectory()
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'config.yaml'), yaml('https://eu.example/v1'))
  createGoModelDatabase(join(folder, 'data', 'gomodel.db'), ROWS).close()
  const environment = { DATA_DIR: createTemporaryDirectory(), EMBEDDED_PG_PORT: '0', ...ENVIRONMENT, ENCRYPTION_KEY }
  await runDocsBlock('model-proxy migrate', folder, environment)
  const printed = await runDocsBlock(findBlock('docs/move-from-litellm.md', 'import gomodel'), folder, environment)
  expect(printed.match(/^(?:Dry run|Imported).*:$/gm)).toEqual([
    'Dry run: nothing was changed. An import would change:',
    'Imported:',
  ])
}, 300_000)

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import postgres from 'postgres'
import { afterEach, expect, inject, test } from 'vitest'
import { admitRequests } from '../../src/postgres/admit-requests.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { type Database, isLockTimeout } from '../../src/postgres/database.ts'
import { createDeployMonitor } from '../../src/postgres/deploy-monitor.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { searchCacheBatch } from '../../src/postgres/search-cache.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { describeBackends, describeReal } from '../harness/backends.ts'
import { runAsAdmin } from '../harness/run-as-admin.ts'
import { nameTablesIn } from '../harness/search-path.ts'
import { waitUntil } from '../harness/wait-until.ts'

async function issueAsk(database: Database) {
  await callFunction(database, 'create_project', { project: 'acme', plan: 'enterprise' })
  const key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
  return { keyHash: new Bun.CryptoHasher('sha256').update(key).digest('hex'), requests: 1 }
}

/** Replaces the view as a deploy with other columns does, and its checksum. */
function changeView(columns: string): string {
  return `drop view resolved_keys cascade;
    create view resolved_keys as select ${columns} from api_keys k;
    update schema_migrations set checksum = 'another' where name = 'views/resolved_keys.sql';`
}

describeBackends('a deployment of views', backend => {
  test('replaces a view whatever its columns were, and what depends on it', async () => {
    const { database } = await backend.open()
    const ask = await issueAsk(database)
    for (const columns of ['1 as other', 'k.id::text as key_id, k.key_hash']) {
      await database.runScript(changeView(columns))
      expect((await migrate(database)).applied).toEqual(['views', 'functions', 'api', 'seed'])
      expect(await admitRequests(database, [ask])).toMatchObject([
        { resolvedKey: { verdict: 'active', project_name: 'acme' } },
      ])
      expect((await migrate(database)).applied).toEqual([])
    }
  })
})

describeReal('a deployment', backend => {
  const drops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const drop of drops.splice(0)) await drop()
  })

  async function openEmpty(): Promise<{ database: Database; url: string }> {
    const { adminUrl = '' } = inject('real') ?? {}
    const name = `mp_test_${randomBytes(6).toString('hex')}`
    await runAsAdmin(adminUrl, `create database ${name}`, nameTablesIn(name))
    const url = new URL(adminUrl)
    url.pathname = `/${name}`
    const database = openServerDatabase({ url: url.href })
    drops.push(async () => {
      await database.close()
      await runAsAdmin(adminUrl, `drop database ${name} with (force)`)
    })
    return { database, url: url.href }
  }

  test('of several that start at once on an empty database, each succeeds, and each step runs once', async () => {
    const { database } = await openEmpty()
    const reports = await Promise.all([migrate(database), migrate(database), migrate(database)])
    expect(reports.flatMap(report => report.applied).filter(name => name === 'baseline')).toEqual(['baseline'])
    expect(await admitRequests(database, [await issueAsk(database)])).toMatchObject([{ granted: 1 }])
  })

  test('works with a role that is no superuser, if the extension exists', async () => {
    const { database, url } = await openEmpty()
    const role = `mp_plain_${randomBytes(6).toString('hex')}`
    await database.runScript(
      `create role ${role} login; create schema model_proxy authorization ${role}; create extension vector`,
    )
    const theirs = openServerDatabase({ url: Object.assign(new URL(url), { username: role }).href })
    drops.unshift(async () => {
      await theirs.close()
      await database.runScript(`drop owned by ${role} cascade; drop role ${role}`)
    })
    await migrate(theirs)
    // The next release brings other functions.
    await theirs.runScript(`update schema_migrations set checksum = 'another' where name like '%search_cache.sql'`)
    expect(await migrate(theirs)).toMatchObject({ applied: expect.arrayContaining(['functions']), repaired: [] })
    const ask = { projectId: 1, requestHash: '0'.repeat(64), semantic: null, maxAgeSeconds: null }
    expect(await searchCacheBatch(theirs, [ask])).toEqual([
      { matches: [], hasBelowThreshold: false, hasCandidates: false },
    ])
  })

  test('rejects a database from before the first release, and says what to do', async () => {
    const { database } = await openEmpty()
    await migrate(database)
    await database.runScript(`update schema_migrations set checksum = 'another' where name = 'baseline'`)
    await expect(migrate(database)).rejects.toThrow(/before the first release.*empty database.*docs\/operating\.md/)
  })

  test('restores functions and views that a restored dump has lost, and rejects one that lacks more', async () => {
    const { database } = await openEmpty()
    await migrate(database)
    await database.runScript('drop view usage_hourly cascade; drop function search_cache cascade')
    expect((await migrate(database)).applied).toEqual(['views', 'functions', 'api', 'seed'])
    expect((await migrate(database)).applied).toEqual([])
    await database.runScript('alter table budgets drop column enforced cascade')
    await expect(migrate(database)).rejects.toThrow(
      /table budgets: column enforced is missing.*partially restored.*docs\/production\.md/s,
    )
  })

  test('leaves what a later release has deployed', async () => {
    const { database } = await openEmpty()
    await migrate(database)
    await database.runScript(
      `update schema_migrations set checksum = case name when 'release' then '999.0.0' else 'another' end where name in ('release', 'views/resolved_keys.sql')`,
    )
    expect(await migrate(database)).toEqual({ applied: [], isOlderRelease: true, repaired: [] })
  })

  test('waits while another migrates, and says so; not for ever', async () => {
    const { database, url } = await openEmpty()
    await migrate(database)
    const other = postgres(url, { max: 1 })
    const waits: number[] = []
    let done: Promise<unknown> | null = null
    await other.begin(async transaction => {
      await transaction.unsafe(`select pg_advisory_xact_lock(hashtext('model_proxy migrate'))`)
      // It waits although the schema may be up to date.
      await expect(migrate(database, { waitLimitMs: 300 })).rejects.toThrow('another proxy migrates the database')
      await database.runScript(`update schema_migrations set checksum = 'another' where name = 'seed/000_plans.sql'`)
      done = migrate(database, { onWait: seconds => waits.push(seconds) })
      await waitUntil('the migration reports that it waits', () => waits.length > 0)
    })
    expect(await done).toEqual({ applied: ['seed'], isOlderRelease: false, repaired: [] })
    expect(waits).toEqual([0])
    await other.end()
  })

  test('is visible only in its own database', async () => {
    const [one, another] = [await openEmpty(), await openEmpty()]
    for (const { database } of [one, another]) {
      await migrate(database)
      await database.runScript(`update schema_migrations set applied_at = now() - interval '1 minute'`)
    }
    const client = postgres(one.url, { max: 1 })
    await client.begin(async transaction => {
      await transaction.unsafe(`select pg_advisory_xact_lock(hashtext('model_proxy migrate'))`)
      // A database that responds slowly may be seen as not deploying once, so this is repeated.
      await waitUntil('the deploy is detected', () => createDeployMonitor(one.database).isDeploying(performance.now()))
      expect(await createDeployMonitor(another.database).isDeploying(performance.now())).toBe(false)
    })
    await client.end()
  })

  test('costs no request, of this release or the one before, whatever it replaces', async () => {
    const { database, databaseUrl } = await backend.open()
    const ask = await issueAsk(database)
    const deployer = openServerDatabase({ url: databaseUrl ?? '', maxConnections: 1 })
    let running = true
    let answered = 0
    const failures: unknown[] = []
    async function keepAsking(call: () => Promise<{ granted: number; key_id: number }[]>): Promise<void> {
      while (running) {
        const rows = await call().catch(error => {
          // A statement that would wait for a lock fails, and is repeated.
          if (!isLockTimeout(error)) failures.push(error)
          return null
        })
        // Each caller gets its own reply, although statements may become invalid while others run.
        if (rows) expect(rows).toMatchObject([{ verdict: 'active', granted: 1, project_name: 'acme' }])
        answered++
      }
    }
    const clients = Array.from({ length: 24 }, (_, i) =>
      i % 3 === 0
        ? keepAsking(() =>
            database.call(
              `select k.*, a.granted
              from admit($1::text[], $2::integer[], null, null, null, false, 50) a
              join resolved_keys k on k.key_hash = decode(($1::text[])[a.ordinal], 'hex')`,
              [[ask.keyHash], [1]],
            ),
          )
        : keepAsking(async () => {
            const replies = await admitRequests(database, [ask], { slot: crypto.randomUUID(), sequence: 1 })
            return replies.map(({ resolvedKey, granted }) => ({ ...resolvedKey, granted })) as never
          }),
    )
    const { keyHash } = ask
    const others = Array.from({ length: 8 }, async (_, i) => {
      while (running) {
        const [row] = await database.call<{ said: string }>('select $1::text || $2::text as said', [keyHash, `${i}`])
        expect(row?.said).toBe(`${keyHash}${i}`)
      }
    })
    for (let deploy = 0; deploy < 4; deploy++) {
      await Bun.sleep(500)
      // The view in turn with and without another column, in one transaction, so that no client sees it missing.
      const text = await Bun.file(new URL('../../sql/views/resolved_keys.sql', import.meta.url)).text()
      const changed =
        deploy % 2 === 0
          ? text.replace('    p.unsupported_tools\n', `    p.unsupported_tools,\n    ${deploy} as more\n`)
          : text
      const functions = await readFunctions()
      await deployer.runScripts([
        { name: 'drop', text: 'drop view resolved_keys cascade' },
        { name: 'view', text: changed },
        ...functions.map((text, i) => ({ name: `function ${i}`, text })),
      ])
    }
    await Bun.sleep(100)
    running = false
    await Promise.all([...clients, ...others])
    await deployer.close()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(100)
  })
})

async function readFunctions(): Promise<string[]> {
  const folder = new URL('../../sql/functions/', import.meta.url)
  const names = (await readdir(folder, { recursive: true })).filter(file => file.endsWith('.sql')).sort()
  return Promise.all(names.map(file => Bun.file(new URL(file, folder)).text()))
}

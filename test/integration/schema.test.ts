import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterEach, expect, inject, test } from 'vitest'
import { admitRequests } from '../../src/postgres/admit-requests.ts'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { findFirstProject } from '../../src/postgres/projects.ts'
import { withSchema } from '../../src/postgres/schema-name.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { describeReal } from '../harness/backends.ts'
import { searchCache, sha256 } from '../harness/cached-responses.ts'
import { runAsAdmin } from '../harness/run-as-admin.ts'

describeReal('the schema', () => {
  const drops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const drop of drops.splice(0)) await drop()
  })

  /** Opens another owner's database: no search path names the proxy's schema. */
  async function openEmpty(): Promise<{ database: Database; url: string }> {
    const { adminUrl = '' } = inject('real') ?? {}
    const name = `mp_test_${randomBytes(6).toString('hex')}`
    await runAsAdmin(adminUrl, `create database ${name}`)
    const url = new URL(adminUrl)
    url.pathname = `/${name}`
    const database = openServerDatabase({ url: url.href })
    drops.push(async () => {
      await database.close()
      await runAsAdmin(adminUrl, `drop database ${name} with (force)`)
    })
    return { database, url: url.href }
  }

  /** Expects keys, counters, stored responses and the extension's operators to work. */
  async function isServed(database: Database): Promise<void> {
    await callFunction(database, 'create_project', { project: 'acme', plan: 'enterprise' })
    const key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
    expect(await admitRequests(database, [{ keyHash: sha256(key), requests: 1 }])).toMatchObject([
      { granted: 1, resolvedKey: { verdict: 'active', project_name: 'acme' } },
    ])
    const projectId = await callFunction(database, 'find_project', { project: 'acme' })
    const space = { model: 'three', dimensions: 3 }
    const spaceId = await callFunction(database, 'register_embedding_space', space)
    const [contextHash, normalizedHash] = [sha256('context'), sha256('stored')]
    const stored = { namespace: '', endpoint: 'chat', model: 'm', provider: 'p', response: '{}', ttlSeconds: 60 }
    await storeCachedResponses(database, [
      {
        ...stored,
        ...{ projectId, requestHash: sha256('stored'), promptTokens: 1, completionTokens: 1 },
        semantic: { contextHash, normalizedHash, prompt: 'stored', vector: { spaceId, text: '[9,10,0]' } },
      },
    ])
    const vector = { spaceId, text: '[10,9,0]' }
    const semantic = { contextHash, normalizedHash: sha256('asked'), vector, comparesNewest: true, threshold: 0.9 }
    const ask = { projectId, requestHash: sha256('asked'), semantic, maxAgeSeconds: null }
    expect(await searchCache(database, ask)).toMatchObject([{ match: 'similar', prompt: 'stored' }])
  }

  const objectsIn = (database: Database, schema: string) =>
    database.call<{ name: string }>(
      `select c.relname as name from pg_class c where c.relnamespace = to_regnamespace($1::text) and c.relkind in ('r', 'p', 'v') order by 1`,
      [schema],
    )

  test('is created beside the tables of another application, whatever their names', async () => {
    const { database } = await openEmpty()
    const theirs = ['plans', 'users', 'events', 'projects', 'schema_migrations', 'sessions', 'models']
    await database.runScript(theirs.map(name => `create table ${name} (version int);`).join('\n'))
    await database.runScript('create function admit(text) returns text language sql as $$ select $1 $$')
    await migrate(database)
    await isServed(database)
    expect((await objectsIn(database, 'public')).map(({ name }) => name)).toEqual(theirs.toSorted())
    expect(await database.call('select * from users', [])).toEqual([])
  })

  test('describes each table, view and column', async () => {
    const { database } = await openEmpty()
    await migrate(database)
    const undeclared = await database.call(
      `with relations as (
        select c.oid, c.relname, c.relispartition from pg_class c where c.relnamespace = 'model_proxy'::regnamespace and c.relkind in ('r', 'p', 'v')
      )
      select r.relname, a.attname from relations r
      join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      where col_description(r.oid, a.attnum) is null and not r.relispartition
      union all
      select r.relname, null from relations r where obj_description(r.oid, 'pg_class') is null`,
      [],
    )
    expect(undeclared).toEqual([])
  })

  test('names every advisory lock with a distinct number', async () => {
    const { database } = await openEmpty()
    await migrate(database)
    const root = fileURLToPath(new URL('../../', import.meta.url))
    const files = [...new Bun.Glob('{sql,src}/**/*.{sql,ts}').scanSync({ cwd: root })]
    const texts = await Promise.all(files.map(file => Bun.file(`${root}/${file}`).text()))
    const taken = texts.flatMap(text => Array.from(text.matchAll(/hashtext\('([^']+)'\)/g), ([, name]) => name))
    const locks = await database.call<{ name: string; number: number }>(
      'select * from model_proxy.advisory_locks()',
      [],
    )
    expect(new Set(locks.map(({ name }) => name))).toEqual(new Set(taken))
    expect(new Set(locks.map(({ number }) => number)).size).toBe(locks.length)
  })

  test('may have another name: two installations share a database, and nothing else', async () => {
    const { database, url } = await openEmpty()
    const [one, other] = [withSchema(database, 'one'), withSchema(database, 'select')]
    const client = postgres(url, { max: 1 })
    await client.begin(async transaction => {
      // The other schema is migrated in the meantime: each migration waits for its own schema only.
      await transaction.unsafe(`select pg_advisory_xact_lock(hashtext('"one" migrate'))`)
      await migrate(other)
    })
    await client.end()
    await migrate(one)
    await isServed(one)
    expect(await findFirstProject(other)).toBeNull()
    await isServed(other)
    expect(await objectsIn(database, 'model_proxy')).toEqual([])
    expect(await objectsIn(database, 'one')).toEqual(await objectsIn(database, 'select'))
    expect((await migrate(one)).applied).toEqual([])
    for (const schema of [one, other]) {
      // The whole schema is compared.
      await schema.runScript(`delete from model_proxy.schema_migrations where name = 'schema'`)
      expect(await migrate(schema)).toEqual({ applied: [], isOlderRelease: false, repaired: [] })
    }
  })

  test('is all that its owner needs to own, wherever the extension is', async () => {
    const { database, url } = await openEmpty()
    const role = `mp_plain_${randomBytes(6).toString('hex')}`
    await database.runScript(`
      create role ${role} login;
      revoke all on schema public from public;
      create schema extensions;
      create extension vector schema extensions;
      grant usage on schema extensions to ${role};
      create schema model_proxy authorization ${role};`)
    const theirs = openServerDatabase({ url: Object.assign(new URL(url), { username: role }).href })
    drops.unshift(async () => {
      await theirs.close()
      await database.runScript(`drop owned by ${role} cascade; drop role ${role}`)
    })
    await migrate(theirs)
    await isServed(theirs)
  })

  test('is not created where a checkout from before the first release is', async () => {
    const { database } = await openEmpty()
    await database.runScript(`create table schema_migrations (name text primary key, checksum text);
      comment on table schema_migrations is 'Ledger of what of sql/ this database has seen.'`)
    await expect(migrate(database)).rejects.toThrow(/before the first release.*empty database.*docs\/operating\.md/)
  })
})

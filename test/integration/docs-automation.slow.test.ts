/** The script of docs/admin.md that sets up a project: against a proxy process, twice. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { findBlock } from '../harness/docs-blocks.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

type Tables = Readonly<Record<string, readonly string[]>>

const SCRIPT = findBlock('docs/admin.md', 'exists()')
/** Tables that record requests to the admin API, or the state of processes. */
const BOOKKEEPING = ['audit_log', 'idempotent_requests', 'login_attempts', 'sessions', 'service_settings']
/** The tables in which the script creates one row each. */
const CREATED = ['projects', 'api_keys', 'budgets', 'spend_alerts', 'webhooks', 'provider_keys']

test('the script of the docs sets up a project, and changes nothing when it runs again', async () => {
  const [directory, dataDir, psqlPort] = [createTemporaryDirectory(), createTemporaryDirectory(), findFreePort()]
  const proxy = await startProxyProcess({ DATA_DIR: dataDir, EMBEDDED_PG_PORT: String(psqlPort), METRICS_PORT: '0' })
  const database = postgres(await embeddedUrl(dataDir, psqlPort), {
    max: 1,
    connection: { search_path: 'model_proxy' },
  })
  await database`select create_user('ada@example.org', 'owner')`
  const [issued] = await database<{ key: string }[]>`select key from issue_admin_key('ada@example.org', 'script')`

  async function run(): Promise<void> {
    const child = Bun.spawn(['bash', '-c', SCRIPT], {
      cwd: directory,
      env: {
        ...bareEnvironment(),
        PROXY: proxy.baseUrl.replace('/v1', ''),
        ADMIN_KEY: issued?.key ?? '',
        OPENAI_API_KEY: 'sk-a-secret-of-a-provider',
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    expect([await child.exited, err, out]).toEqual([
      0,
      '',
      'organization.project.api_key\nproject.settings\nproject.budget\n',
    ])
  }

  /** Returns the rows of all tables except bookkeeping, as text. */
  async function readTables(): Promise<Tables> {
    const names = await database<{ name: string }[]>`
      select c.relname as name from pg_class c
      where c.relnamespace = 'model_proxy'::regnamespace
        and c.relkind in ('r', 'p')
        and not c.relispartition
        and c.relname <> all (${BOOKKEEPING})`
    const tables: Record<string, string[]> = {}
    for (const { name } of names) {
      const rows = await database<{ row: string }[]>`
        select (to_jsonb(t) - 'last_used_at')::text as row from ${database(name)} t order by 1`
      tables[name] = rows.map(({ row }) => row)
    }
    return tables
  }
  const count = (tables: Tables) => CREATED.map(name => tables[name]?.length ?? 0)
  const readResponses = () => readFileSync(join(directory, 'acme.json'), 'utf8')

  const before = await readTables()
  await run()
  const [first, responses] = [await readTables(), readResponses()]
  expect(count(first)).toEqual(count(before).map(rows => rows + 1))
  for (const secret of [/lgw_proj_\w{20,}/, /whsec_\S{20,}/]) expect(responses).toMatch(secret)
  expect(responses).not.toContain('sk-a-secret')

  await run()
  expect(await readTables()).toEqual(first)
  expect(readResponses()).toBe(responses)
  await database.end()
  proxy.signal('SIGTERM')
  await proxy.ended()
}, 120_000)

/** The embedded database of a proxy process: after a kill, and under a burst. */

import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask } from '../harness/client.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { bareFlags, psqlPath, runPsql } from '../integration/run-psql.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'

const UNFINISHED = 'postgres.unpacking'

let dataDir: string
let settings: { DATA_DIR: string; EMBEDDED_PG_PORT: string }
let proxy: ProxyProcess
let key: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-embedded-'))
  settings = { DATA_DIR: dataDir, EMBEDDED_PG_PORT: String(findFreePort()) }
  // An earlier start was killed while it unpacked the files of a new database.
  await mkdir(join(dataDir, UNFINISHED, 'base'), { recursive: true })
  await writeFile(join(dataDir, UNFINISHED, 'leftover'), '')
  proxy = await startProxyProcess(settings)
  await withDatabase(async database => {
    await callFunction(database, 'create_project', { project: 'acme', plan: 'enterprise' })
    key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
    await callFunction(database, 'create_project', { project: 'many', plan: 'enterprise' })
    await database.runScript('update plans set test_requests_per_minute = 1000000, test_requests_per_month = 1000000')
    key = await callFunction(database, 'issue_key', { project: 'many', key_type: 'test', key_name: 'ci' })
  })
})
afterAll(async () => {
  proxy?.signal('SIGKILL')
  await proxy?.ended()
  await rm(dataDir, { recursive: true, force: true })
})

async function withDatabase<T>(run: (database: ReturnType<typeof openServerDatabase>) => Promise<T>): Promise<T> {
  const database = openServerDatabase({ url: await embeddedUrl(dataDir, settings.EMBEDDED_PG_PORT), maxConnections: 1 })
  try {
    return await run(database)
  } finally {
    await database.close()
  }
}

/** During a burst, sessions of the psql port wait, so that a driver can time out. */
async function count(text: string): Promise<number> {
  let found: number | null = null
  await waitUntil('the count succeeds', async () => {
    found = await withDatabase(async database => (await database.call<{ n: number }>(text, []))[0]?.n ?? null).catch(
      () => null,
    )
    return found !== null
  })
  return Number(found)
}
const COUNTED = `select coalesce(sum(requests), 0)::int as n from monthly_counters c join projects p on p.id = c.project_id where p.name = 'many'`
const RECORDED = 'select count(*)::int as n from usage_records'

test.skipIf(!psqlPath)('the printed psql command works as printed', async () => {
  // The proxy serves requests before it prints its start message.
  await waitUntil('the line is printed', async () => proxy.output().includes('reach it with'))
  const url = /reach it with: psql (\S+)/.exec(proxy.output())?.[1] ?? ''
  expect(await runPsql(url, [...bareFlags, '-w', '-c', 'select 1'])).toEqual({ exitCode: 0, stdout: '1\n', stderr: '' })
})

test('its files can be read only by their owner, and none is left of an unfinished first start', async () => {
  const files = ['', 'lock', 'psql.pgpass', 'postgres', 'postgres/PG_VERSION', 'postgres/base', 'postgres/global/1260']
  const modes = await Promise.all(
    files.map(async file => [file, (await stat(join(dataDir, file))).mode & 0o077] as const),
  )
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([])
  expect(await readdir(dataDir)).not.toContain(UNFINISHED)
  expect(await readdir(join(dataDir, 'postgres'))).not.toContain('leftover')
})

test('200 different simultaneous requests are all served, and so are those after them', async () => {
  const before = await count(COUNTED)
  const burst = Array.from({ length: 200 }, (_, n) => ask(proxy, key, `What is the capital of country number ${n}?`))
  const behind = Bun.sleep(200).then(() =>
    Promise.all(Array.from({ length: 20 }, (_, n) => ask(proxy, key, `Who wrote book number ${n}?`))),
  )
  const answers = [...(await Promise.all(burst)), ...(await behind)]
  expect(answers.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`)).toEqual([])
  expect((await count(COUNTED)) - before).toBe(220)
})

test('killed, it loses at most a second of counts and records', async () => {
  await waitUntil('all is recorded', async () => (await count(RECORDED)) >= 220)
  const [counted, recorded] = [await count(COUNTED), await count(RECORDED)]
  for (let n = 0; n < 5; n++) expect((await ask(proxy, key, `Once more, number ${n}?`)).status).toBe(200)
  await waitUntil('they are recorded', async () => (await count(RECORDED)) === recorded + 5)
  // The flush takes up to half a second and emits no event.
  await Bun.sleep(1_600)
  proxy.signal('SIGKILL')
  await proxy.ended()
  // The lock file still exists, but does not block the next start.
  proxy = await startProxyProcess(settings)
  expect(await count(COUNTED)).toBe(counted + 5)
  expect(await count(RECORDED)).toBe(recorded + 5)
})

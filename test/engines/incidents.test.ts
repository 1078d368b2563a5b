/** Runs every command of docs/incidents.md, in order and unchanged, and checks its documented effect. */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { asPostgres, binary, startPostgres, startRedis } from '../faults/servers.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { ask, get } from '../harness/client.ts'
import { startUpstreams, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/incidents.md'), 'utf8')
const RUN = `run() { psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 "$@"; }`

interface Step {
  number: number
  commands: string | null
}

/** Returns the numbered steps of a section. `commands` is null for a step without commands. */
function stepsOf(title: string): Step[] {
  const section = PAGE.split(/^## /m).find(text => text.startsWith(`${title}\n`)) ?? ''
  return Array.from(
    section.matchAll(/^(\d+)\. ([\s\S]*?)(?=^\d+\. |^\S(?!\d*\. )|(?![\s\S]))/gm),
    ([, number, text = '']) => ({
      number: Number(number),
      commands: /^ {3}```sh\n([\s\S]*?)^ {3}```/m.exec(text)?.[1]?.replaceAll(/^ {3}/gm, '') ?? null,
    }),
  )
}

describeEngines('incident pages', ['psql', 'pg_dump', 'redis-cli'], () => {
  const backup = join(createTemporaryDirectory(), 'backup')
  const upstreams = duringTests(startUpstreams)
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  let proxy: ProxyProcess
  let environment: Record<string, string>
  const variables: Record<string, string> = { BACKUP: backup, SECRET: 'sk-new' }
  let key = ''

  const startProxy = () => startProxyProcess({ ...environment, PORT: String(proxy?.port ?? findFreePort()) })
  async function stopProxy(): Promise<void> {
    proxy.signal('SIGTERM')
    await proxy.ended()
  }

  beforeAll(async () => {
    environment = {
      ...upstreams.environment,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    }
    proxy = await startProxy()
    await shell(`run -v project=acme -v plan=pro -f scripts/create-project.sql`)
    key = await shell('run -v project=acme -v type=project -v name=ci -f scripts/create-key.sql')
    await shell(`printf %s sk-own | scripts/set-provider-key.sh acme openai`)
  })
  afterAll(() =>
    shell(`[ ! -d "$BACKUP/restored" ] || pg_ctl -D "$BACKUP/restored" -m immediate stop`, true).catch(() => {}),
  )

  /** Runs commands as a reader does. The examples of the documentation are replaced by this test's values. */
  async function shell(commands: string, isPostgres = false): Promise<string> {
    const adapted = commands
      .replaceAll('lgw_proj_AbCd1234', key.slice(0, 17))
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${proxy.port}`)
    const script = ['set -euo pipefail', RUN, adapted].join('\n')
    const command = ['bash', '-c', script]
    const path = [dirname(binary('pg_ctl')), dirname(process.execPath), process.env.PATH].join(':')
    const child = Bun.spawn(isPostgres ? asPostgres(command) : command, {
      cwd: ROOT,
      env: { ...bareEnvironment(), ...environment, ...variables, PATH: path },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`${commands}\n${err}\n${out}`)
    return out.trim()
  }

  /** Runs a step of a section. */
  function run(title: string, number: number, isPostgres = false): Promise<string> {
    const commands = stepsOf(title).find(step => step.number === number)?.commands
    if (!commands) throw new Error(`${title}: step ${number} has no commands`)
    return shell(commands, isPostgres)
  }
  const question = (seed: number) => ({
    model: 'gpt-4o-mini',
    seed,
    messages: [{ role: 'user', content: 'Who is it?' }],
  })
  const statusOf = async (seed: number, by = key) => (await ask(proxy, by, question(seed))).status

  test('number every step in order, and have every command in a list', () => {
    const titles = Array.from(PAGE.matchAll(/^## (.+)$/gm), ([, title = '']) => title)
    expect(titles).toHaveLength(5)
    for (const title of titles) {
      const steps = stepsOf(title)
      expect(steps.map(({ number }) => number)).toEqual(steps.map((_, at) => at + 1))
    }
    const listed = titles.flatMap(stepsOf).filter(({ commands }) => commands !== null)
    expect(listed).toHaveLength(PAGE.match(/```sh/g)?.length ?? 0)
  })

  test('a provider is down', async () => {
    upstreams.openai.script({ kind: 'error', status: 503, message: 'down' })
    expect(await statusOf(1)).toBe(503)
    expect(JSON.parse(await run('A provider is down', 1)).upstreams).toHaveProperty('openai')
    await run('A provider is down', 2)
    const rescued = await ask(proxy, key, question(2))
    expect([rescued.status, rescued.headers.get('x-proxy-provider')]).toEqual([200, 'openrouter'])
    await run('A provider is down', 3)
    upstreams.reset()
  })

  test('a key has leaked', async () => {
    const leaked = key
    const title = 'A key has leaked'
    expect(await statusOf(3)).toBe(200)
    const rotated = stepsOf(title)[0]?.commands ?? ''
    const fresh = await shell(`${rotated}\necho "$NEW_KEY"`)
    expect(await statusOf(3, leaked)).toBe(401)
    key = fresh
    expect(await statusOf(3)).toBe(200)
    await waitUntil('the use of the key is recorded', async () => (await run(title, 2)).includes('gpt-4o-mini|200'))
    expect((await ask(proxy, key, question(3))).cache).toBe('HIT')
    await run(title, 3)
    expect((await ask(proxy, key, question(3))).cache).toBe('MISS')
    await run(title, 4)
    upstreams.reset()
    expect(await statusOf(4)).toBe(200)
    expect(upstreams.openai.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-new'])
  })

  test('restore to a point in time', async () => {
    const title = 'Point-in-time recovery'
    mkdirSync(join(backup, 'wal'), { recursive: true })
    await Bun.spawn(['chmod', '-R', '777', dirname(backup)]).exited
    await run(title, 1)
    await postgres.stop()
    await postgres.start()
    await run(title, 2, true)
    const before = question(5)
    const after = question(6)
    const countEntries = async () => Number(await shell('run -c "select count(*) from model_proxy.cache_entries"'))
    const entries = await countEntries()
    await ask(proxy, key, before)
    await waitUntil('the response is stored', async () => (await countEntries()) > entries)
    variables.MOMENT = await shell('run -c "select now()"')
    expect((await ask(proxy, key, after)).cache).toBe('MISS')
    await stopProxy()
    await shell('run -c "select pg_switch_wal()"')
    await postgres.stop()
    await run(title, 4, true)

    proxy = await startProxy()
    expect(await ask(proxy, key, before)).toMatchObject({ status: 200, cache: 'HIT' })
    // The restored database does not contain the response. Redis does.
    expect((await ask(proxy, key, after)).cache).toBe('HIT')
    await stopProxy()
    await run(title, 5)
    proxy = await startProxy()
    expect((await ask(proxy, key, after)).cache).toBe('MISS')
    expect(await ask(proxy, key, before)).toMatchObject({ status: 200, cache: 'HIT' })
    expect(await (await get(proxy, '/health')).json()).toMatchObject({ status: 'ok' })
  })

  test('the bill is too high', async () => {
    const title = 'The bill is too high'
    await run(title, 1)
    expect(await statusOf(5)).toBe(200)
    await shell('run -v project=acme -v usd=0.0000001 -v per=day -f scripts/set-budget.sql')
    const rejected = await ask(proxy, key, question(7))
    expect([rejected.status, rejected.json.error.code]).toEqual([429, 'insufficient_quota'])
    expect(await run(title, 2)).toContain('gpt-4o-mini')
    await run(title, 3)
    expect(await statusOf(5)).toBe(403)
    await run(title, 4)
  })
})

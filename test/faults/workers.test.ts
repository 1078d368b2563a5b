import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

describeFaults('WORKERS=2', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const accounts = openAccounts(database)
  let team: ProxyProcess
  const stray: number[] = []

  beforeAll(async () => {
    team = await startTeam()
  })
  afterAll(async () => {
    for (const pid of stray.filter(isAlive)) process.kill(pid, 'SIGKILL')
  })

  async function startTeam(): Promise<ProxyProcess> {
    const started = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, WORKERS: '2' })
    await waitUntil('both workers listen', async () => countLines(started, '"msg":"listening"') === 2)
    stray.push(...workersOf(started))
    return started
  }

  /** Uses a new connection, which any worker can accept. */
  async function isAnswered(): Promise<boolean> {
    const limit = AbortSignal.timeout(3_000)
    const headers = { connection: 'close' }
    const response = await get(team, '/health', undefined, { headers, signal: limit }).catch(() => null)
    return response?.status === 200
  }

  test('each serves the one port', async () => {
    expect(workersOf(team)).toHaveLength(2)
    for (const worker of workersOf(team)) {
      process.kill(worker, 'SIGSTOP')
      const answered = await Promise.all(Array.from({ length: 24 }, isAnswered))
      process.kill(worker, 'SIGCONT')
      // The other worker served its share.
      expect(answered).toContain(true)
      expect(answered).toContain(false)
    }
  })

  test('a killed worker is replaced, and the other serves meanwhile', async () => {
    const { key } = await accounts.create()
    const [victim, other] = workersOf(team)
    if (victim === undefined || other === undefined) throw new Error('Two workers are needed')
    process.kill(victim, 'SIGKILL')
    // Until the system has ended the process, it can still accept a connection.
    await waitUntil('the worker has ended', () => countLines(team, 'a worker ended; it is replaced') === 1)
    expect((await ask(team, key, 'Anybody there?')).status).toBe(200)
    await waitUntil('the worker is replaced', async () => countLines(team, '"msg":"listening"') === 3)
    const now = workersOf(team)
    stray.push(...now)
    expect(now).toHaveLength(2)
    expect(now).toContain(other)
    expect(now).not.toContain(victim)
  })

  test('a worker that does not respond is ended and replaced', async () => {
    const listened = countLines(team, '"msg":"listening"')
    const [victim] = workersOf(team)
    if (victim === undefined) throw new Error('There is no worker')
    process.kill(victim, 'SIGSTOP')
    await waitUntil('the worker has ended', async () => !isAlive(victim))
    await waitUntil('the worker is replaced', async () => countLines(team, '"msg":"listening"') === listened + 1)
    // The log line follows shortly after.
    expect(team.output()).toContain('a worker has fallen silent')
    stray.push(...workersOf(team))
  })

  test('a worker that cannot start is tried ever more slowly, until it can', async () => {
    await postgres.stop()
    const [victim] = workersOf(team)
    if (victim === undefined) throw new Error('There is no worker')
    process.kill(victim, 'SIGKILL')
    const listened = countLines(team, '"msg":"listening"')
    const readPauses = () => Array.from(team.output().matchAll(/"pauseMs":(\d+)/g), ([, pause]) => Number(pause))
    const before = readPauses().length
    // The first pause follows the killed worker, the others follow workers that could not start.
    await waitUntil('two workers have tried to start', () => readPauses().length >= before + 3)
    const [first = 0, second, third] = readPauses().slice(before)
    expect(first).toBeGreaterThan(0)
    expect([second, third]).toEqual([2 * first, 4 * first])
    expect(team.output()).toContain('DATABASE_URL must point to a PostgreSQL that the proxy can use')
    await postgres.start()
    await waitUntil('the worker is replaced', async () => countLines(team, '"msg":"listening"') === listened + 1)
    stray.push(...workersOf(team))
  })

  test('SIGTERM ends all of them', async () => {
    const workers = workersOf(team)
    team.signal('SIGTERM')
    expect(await team.ended()).toBe(0)
    expect(workers.filter(isAlive)).toEqual([])
  })

  test('workers whose supervisor was killed end by themselves', async () => {
    team = await startTeam()
    const workers = workersOf(team)
    team.signal('SIGKILL')
    await waitUntil('no worker is left', async () => !workers.some(isAlive))
  })
})

function workersOf({ pid }: ProxyProcess): number[] {
  // Includes children of any thread.
  const { stdout } = Bun.spawnSync(['ps', '--no-headers', '-o', 'pid', '--ppid', String(pid)])
  return stdout.toString().split('\n').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    // A zombie has ended, even if its parent has not waited for it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function countLines(team: ProxyProcess, text: string): number {
  return team.output().split(text).length - 1
}

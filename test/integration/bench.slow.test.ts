/** What a benchmark leaves behind after a failure or a signal. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { measure } from '../../scripts/bench/measure.ts'
import { findFamily } from '../../scripts/bench/processor-time.ts'
import { OutOfPrompts, type Scenario } from '../../scripts/bench/scenarios.ts'
import { startForwarder, startUpstream, type Target, type Upstream } from '../../scripts/bench/targets.ts'
import { describeReal } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { runAsAdmin } from '../harness/run-as-admin.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'

const ROOT = join(import.meta.dirname, '../..')
const EFFORT = { connections: [2, 3], rounds: 2, seconds: 0.2, warmUpSeconds: 0.1 }
const SCENARIO: Scenario = { path: '/chat/completions', bodies: ['{}'], expects: 'MISS', semantic: 'off' }

describe('a benchmark', () => {
  let upstream: Upstream
  let forwarder: Target
  const servers: { stop(): unknown }[] = []

  beforeAll(async () => {
    upstream = await startUpstream()
    forwarder = await startForwarder(upstream)
  })
  afterAll(async () => {
    for (const server of servers) server.stop()
    await forwarder?.stop()
    await upstream?.stop()
  })

  /** A server that responds with the status that the test chooses. */
  function serve(name: string, statusOf: () => number): Target {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => Response.json({}, { status: statusOf() }),
    })
    servers.push({ stop: () => server.stop(true) })
    return { ...forwarder, name, baseUrl: `http://127.0.0.1:${server.port}/v1`, isFloor: false }
  }
  const named = (rows: readonly { target: string; connections: number }[]) =>
    rows.map(({ target, connections }) => `${target} ${connections}`)

  test('omits a target that fails, and keeps its results so far and those of the others', async () => {
    let turns = 0
    const scenario = { ...SCENARIO, bodies: () => [`{"turn":${++turns}}`] }
    // The warm-up and two rounds at two connections. Every third turn is the second target's.
    const failing = serve('failing', () => (turns > 9 ? 500 : 200))
    const { rows, failures } = await measure(
      ['case', scenario],
      [forwarder, failing, serve('steady', () => 200)],
      upstream,
      EFFORT,
    )
    expect(named(rows)).toEqual(['forwarder 2', 'failing 2', 'steady 2', 'forwarder 3', 'steady 3'])
    expect(failures).toEqual([{ scenario: 'case', target: 'failing', error: expect.stringContaining('500') }])
    expect(rows.every(({ floors }) => floors !== null)).toBe(true)
  })

  test('continues without a target that fails at once', async () => {
    const { rows, failures } = await measure(
      ['case', SCENARIO],
      [serve('failing', () => 503), serve('steady', () => 200)],
      upstream,
      EFFORT,
    )
    expect(named(rows)).toEqual(['steady 2', 'steady 3'])
    expect(failures.map(({ target }) => target)).toEqual(['failing'])
  })

  test('ends a scenario that runs out of prompts, and keeps its results', async () => {
    let left = 6
    const bodies = () => {
      if (left-- === 0) throw new OutOfPrompts('every prompt has been sent')
      return ['{}']
    }
    const { rows, failures } = await measure(
      ['case', { ...SCENARIO, bodies }],
      [forwarder, serve('steady', () => 200)],
      upstream,
      EFFORT,
    )
    // Two warm-ups and four turns, all at two connections.
    expect(named(rows)).toEqual(['forwarder 2', 'steady 2'])
    expect(failures).toEqual([{ scenario: 'case', target: null, error: 'Error: every prompt has been sent' }])
  })
})

describeReal('a benchmark that is killed', backend => {
  /** Starts a benchmark that would take minutes, and waits until its first scenario is measured. */
  async function startBench() {
    const { databaseUrl, redisUrl } = await backend.open()
    const out = join(createTemporaryDirectory(), 'bench.json')
    const options = ['--scenarios', 'exact,miss-off', '--connections', '2', '--seconds', '0.5', '--warm-up', '0.5']
    const bench = Bun.spawn(
      [
        process.execPath,
        'scripts/bench/main.ts',
        ...options,
        '--rounds',
        '1',
        '--out',
        out,
        '--checkouts',
        'now=.,gone=/nowhere',
      ],
      {
        cwd: ROOT,
        env: { ...bareEnvironment(), DATABASE_URL: databaseUrl ?? '', REDIS_URL: redisUrl ?? '' },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      },
    )
    const readResults = () => Bun.file(out).json()
    await waitUntil('one scenario is measured', () => existsSync(out))
    return { bench, readResults }
  }
  const adminUrl = inject('real')?.adminUrl ?? ''
  /** The database in the environment of a process, if it is a benchmark's. */
  const databaseOf = (pid: number) =>
    /\/(mp_bench_\w+)/.exec(existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '')?.[1] ?? []
  const isThere = async (name: string) =>
    Bun.spawnSync(['psql', adminUrl, '-qAtc', `select 1 from pg_database where datname = '${name}'`])
      .stdout.toString()
      .trim() === '1'
  const areGone = (pids: readonly number[]) => pids.every(pid => !existsSync(`/proc/${pid}`) || isZombie(pid))
  const isZombie = (pid: number) =>
    Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
      .stdout.toString()
      .startsWith('Z')

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    '%s: ends its child processes, and keeps its results',
    async signal => {
      const { bench, readResults } = await startBench()
      const family = findFamily(bench.pid)
      expect(family.length).toBeGreaterThan(3)
      const [name = ''] = family.flatMap(databaseOf)
      expect(await isThere(name)).toBe(true)
      bench.kill(signal)
      await bench.exited
      await waitUntil('the child processes have ended', () => areGone(family))
      // A benchmark that ends by SIGKILL cannot drop its database.
      expect(await isThere(name)).toBe(signal === 'SIGKILL')
      await runAsAdmin(adminUrl, `drop database if exists ${name} with (force)`)
      const { rows, failures } = await readResults()
      expect(rows.map(({ target }: { target: string }) => target)).toEqual(['echo', 'now'])
      expect(failures).toEqual([expect.objectContaining({ scenario: 'start', target: 'gone' })])
    },
  )
})

describeReal('a benchmark of starts', backend => {
  test('starts the proxy on both kinds of stores', async () => {
    const { databaseUrl, redisUrl } = await backend.open()
    const bench = Bun.spawn([process.execPath, 'scripts/bench/main.ts', '--starts', '--rounds', '1', '--idle', '0'], {
      cwd: ROOT,
      env: { ...bareEnvironment(), DATABASE_URL: databaseUrl ?? '', REDIS_URL: redisUrl ?? '' },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const printed = await new Response(bench.stdout).text()
    expect(await bench.exited).toBe(0)
    const measured = /^(.+): [\d.]+ s, [\d.]+ s of processor time, [1-9]\d* MiB idle, \d+ MiB on disk$/gm
    expect(Array.from(printed.matchAll(measured), ([, name]) => name)).toEqual([
      'PostgreSQL and Redis',
      'embedded, first start',
      'embedded, later start',
    ])
  })
})

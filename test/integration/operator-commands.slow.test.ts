/** The commands that create a project, its keys and an administrator: as a start prints them, and with mistakes of operators. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { readConfig } from '../../src/config/config.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { withOperatorDatabase } from '../../src/process/open-operator-database.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { ask } from '../harness/client.ts'
import { fillDataDir } from '../harness/fill-data-dir.ts'
import { runAsAdmin } from '../harness/run-as-admin.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const COMMAND = `${process.execPath} ${SERVER}`
const QUESTION = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }

interface Outcome {
  exitCode: number
  stdout: string
  stderr: string
}

/** Runs a line as a shell does. */
async function runLine(line: string, environment: Record<string, string>, input = ''): Promise<Outcome> {
  const running = Bun.spawn(['sh', '-c', line], {
    env: { ...bareEnvironment(), OPERATOR_COMMAND: COMMAND, ...environment },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  return { exitCode: await running.exited, stdout, stderr }
}

async function logIn({ baseUrl }: ProxyProcess, email: string, password: string): Promise<number> {
  const url = new URL('/dashboard/api/login', baseUrl)
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password }) })).status
}

async function acceptInvitation({ baseUrl }: ProxyProcess, invitation: string, password: string): Promise<number> {
  const url = new URL('/dashboard/api/invitation', baseUrl)
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ invitation, password }) })).status
}

/** Defines the tests of the commands for one database. Commands do not depend on the kind of database. */
function describeCommands(environment: () => Record<string, string>): void {
  const run = (args: string, input?: string) => runLine(`${COMMAND} ${args}`, environment(), input)

  test('prints only the id of a project, a key, and an administrator’s token', async () => {
    expect(await run('create-project made --plan pro')).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^proj_\d+\n$/),
      stderr: '',
    })
    for (const [args, form] of [
      ['create-key made "Zoë’s | key"', /^lgw_proj_[0-9A-Za-z]{32}\n$/],
      ['create-key made --type test dated --expires 2999-01-01', /^lgw_test_[0-9A-Za-z]{32}\n$/],
    ] as const)
      expect(await run(args)).toEqual({ exitCode: 0, stdout: expect.stringMatching(form), stderr: '' })
    const token = /^lgw_invite_[0-9A-Za-z]{32}\n$/
    const { stdout, stderr } = await run('create-admin Ada@example.org')
    expect(stdout).toMatch(token)
    expect(stderr).toMatch(/^Choose a password with it at http\S+\/dashboard\/invitation: [^\n]+\n$/)
    // A replacement for a lost invitation, without a dashboard.
    expect(await runLine(`DASHBOARD=off ${COMMAND} create-admin ada@example.org`, environment())).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(token),
      stderr: '',
    })
  }, 120_000)

  test('an audit ends with 0, with 1 for a violation, and with 2 if it cannot run', async () => {
    await run('migrate')
    await run('create-project audited')
    const none = await run('audit --project audited')
    expect([none.exitCode, none.stdout]).toEqual([
      0,
      expect.stringMatching(/^0 violations, 0 notices: \S+Z to \S+Z, audited, in [\d.]+ s\n$/),
    ])
    expect(none.stderr).toMatch(/^quotas, \S+Z to \S+Z \.\.\.\nbudgets, /)
    const setCounted = (requests: number) =>
      withOperatorDatabase(readConfig(environment()), async database => {
        await callFunction(database, 'maintain_usage_partitions', {})
        await database.call(
          `insert into model_proxy.monthly_counters select id, 'project', model_proxy.current_month(), $1::integer from model_proxy.projects
           where name = 'audited' on conflict on constraint monthly_counters_pkey do update set requests = excluded.requests`,
          [requests],
        )
      })
    await setCounted(5)
    const noticed = await run('audit --project audited')
    expect([noticed.exitCode, noticed.stdout]).toEqual([0, expect.stringMatching(/\n0 violations, 1 notices: /)])
    await setCounted(20_000)
    const found = await run('audit --project audited')
    expect([found.exitCode, found.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^violation quota_exceeded audited - \S+Z project keys, \d{4}-\d\d: expected at most 10000 requests; found 20000 requests\n(?:.*\n)*1 violations, 1 notices: /,
      ),
    ])
    const printed = JSON.parse((await run('audit --project audited --json --from 2026-01-01')).stdout)
    expect(printed).toMatchObject({ from: '2026-01-01T00:00:00.000Z', project: 'audited', violations: 1, notices: 1 })
    expect(printed.findings.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'quota_exceeded',
      'request_not_recorded',
    ])
    const help = await run('audit --help')
    expect([help.exitCode, help.stdout]).toEqual([0, expect.stringContaining('quota_exceeded (violation): ')])
    const wrong: [args: string, message: RegExp][] = [
      ['audit --project nobody', /\nproject "nobody" does not exist\n$/],
      ['audit --from someday', /^--from must be a date or a time, such as /],
      ['audit --since 2026-01-01', /^Unknown option '--since'/],
    ]
    for (const [args, message] of wrong) {
      const { exitCode, stdout, stderr } = await run(args)
      expect([args, exitCode, stdout, stderr]).toEqual([args, 2, '', expect.stringMatching(message)])
    }
  }, 300_000)

  test('bad input ends non-zero with one line without secrets', async () => {
    await run('create-project taken')
    await run('create-key taken ci')
    await withOperatorDatabase(readConfig(environment()), database =>
      callFunction(database, 'create_user', { email: 'member@example.org', user_role: 'reader', password_hash: null }),
    )
    const cases: [args: string, message: RegExp][] = [
      ['create-project taken', /^project "taken" exists already$/],
      ['create-project new --plan gold', /^plan "gold" does not exist; plans are: free, pro, enterprise$/],
      ['create-project ""', /^project name "" is not valid: 1 to 63 letters/],
      [`create-project "'; drop table projects; --"`, /is not valid/],
      ['create-project', /^usage: .* create-project PROJECT \[--plan free\]$/],
      ['create-project new pro', /^usage: /],
      ['create-project new --plan', /^usage: /],
      ['create-key taken ci', /^project "taken" already has an active key named "ci"$/],
      ['create-key nobody ci', /^project "nobody" does not exist$/],
      ['create-key taken new --type admin', /^key type "admin" does not exist; types are: project, test$/],
      ['create-key taken ""', /^key name "" is not valid/],
      ['create-key taken new --expires ""', /^the expiry is empty/],
      ['create-key taken new --expires someday', /^expiry "someday" is not a date or time/],
      ['create-key taken new --expires infinity', /^expiry "infinity" is not a date or time/],
      ['create-key taken new --expires 2001-01-01', /^expiry 2001-01-01T00:00:00Z is in the past$/],
      ['create-key taken', /^usage: /],
      ['create-admin', /^usage: .* create-admin EMAIL \[--promote\] \[--password-stdin\]$/],
      ['create-admin nobody', /^e-mail address "nobody" is not valid$/],
      [
        'create-admin member@example.org',
        /^user "member@example.org" exists and is not an administrator: only with --promote /,
      ],
      ['create-admin eve@example.org a-secret-of-hers', /^usage: /],
      ['create-admin eve@example.org --password=a-secret-of-hers', /^usage: /],
      ['create-admin eve@example.org --password-stdin=a-secret-of-hers', /^usage: /],
    ]
    for (const [args, message] of cases) {
      const { exitCode, stdout, stderr } = await run(args)
      expect([args, exitCode, stdout, stderr.endsWith('\n')]).toEqual([args, 1, '', true])
      expect([args, stderr.trimEnd()]).toEqual([args, expect.stringMatching(message)])
      expect(stderr.trimEnd()).not.toContain('\n')
      expect(stderr).not.toContain('a-secret')
    }
    expect(await run('create-admin member@example.org --promote')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^lgw_invite_/),
    })
    for (const password of ['', 'too short', `${'x'.repeat(201)}`, 'two lines of a\nlong password']) {
      const outcome = await run('create-admin eve@example.org --password-stdin', password)
      expect(outcome).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringMatching(/^the password on standard input is not valid: [^\n]+\n$/),
      })
      if (password !== '') expect(outcome.stderr).not.toContain(password)
    }
  }, 300_000)
}

describe('on an embedded database', () => {
  const dataDir = createTemporaryDirectory()
  const environment = { DATA_DIR: dataDir, EMBEDDED_PG_PORT: String(findFreePort()), LOG_LEVEL: 'debug' }
  let proxy: ProxyProcess
  beforeAll(async () => {
    await fillDataDir(dataDir)
    proxy = await startProxyProcess({ ...environment, OPERATOR_COMMAND: COMMAND })
  }, 120_000)
  afterAll(async () => {
    proxy.signal('SIGTERM')
    await proxy.ended()
  })

  describeCommands(() => environment)

  test('the next start prints the command that creates another key, and passwords reach no log', async () => {
    const password = `a word and ${crypto.randomUUID()}`
    const made = await runLine(`${COMMAND} create-admin eve@example.org --password-stdin`, environment, `${password}\n`)
    expect(made).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^user_\d+\n$/), stderr: '' })
    expect(await logIn(proxy, 'eve@example.org', password)).toBe(200)
    expect(proxy.output()).not.toContain(password)
    proxy.signal('SIGTERM')
    await proxy.ended()
    // The proxy is stopped: the command opens the database itself.
    expect((await runLine(`${COMMAND} create-project at-rest`, environment)).stdout).toMatch(/^proj_\d+\n$/)
    proxy = await startProxyProcess({ ...environment, OPERATOR_COMMAND: COMMAND })
    const [, line = ''] = /^Another key for a project: (.*)$/m.exec(proxy.output()) ?? []
    const key = (await runLine(line, environment)).stdout.trim()
    expect((await ask(proxy, key, QUESTION)).status).toBe(200)
  }, 120_000)
})

const real = inject('real')
describe.skipIf(!real)('on shared stores, as a plain owner of the database', () => {
  const suffix = crypto.randomUUID().replaceAll('-', '')
  const [name, role] = [`commands_${suffix}`, `mp_owner_${suffix}`]
  let environment: Record<string, string>
  beforeAll(async () => {
    const url = new URL(real?.adminUrl ?? '')
    await runAsAdmin(url.href, `create role ${role} login`, `create database ${name} owner ${role}`)
    url.pathname = `/${name}`
    await runAsAdmin(url.href, 'create extension vector', `grant model_proxy_dashboard to ${role}`)
    url.username = role
    environment = { DATABASE_URL: url.href, REDIS_URL: real?.redisUrl ?? '', DATA_DIR: join(temporary, 'none') }
  }, 120_000)
  afterAll(() => runAsAdmin(real?.adminUrl ?? '', `drop database ${name} with (force)`, `drop role ${role}`))
  const temporary = createTemporaryDirectory()

  test.each([
    ['one process', '1'],
    ['workers', '2'],
  ])(
    'a start of %s without a project prints working commands that create one',
    async (_, workers) => {
      const start = (more = {}) => startProxyProcess({ ...environment, WORKERS: workers, ...more })
      let proxy = await start({ OPERATOR_COMMAND: COMMAND })
      await waitUntil('the proxy reports that there is no project', () =>
        /^There is no project yet\./m.test(proxy.output()),
      )
      const lines = proxy
        .output()
        .split('\n')
        .filter(line => line.startsWith(COMMAND))
      expect(lines.map(line => line.slice(COMMAND.length))).toEqual([
        ' create-project acme',
        ' create-key acme first --type test',
        ' create-admin you@example.org',
      ])
      const made: Outcome[] = []
      for (const line of lines) made.push(await runLine(line, environment))
      expect(made.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
      const [, key, token] = made.map(({ stdout }) => stdout.trim())
      expect((await ask(proxy, key ?? '', QUESTION)).status).toBe(200)
      expect(await acceptInvitation(proxy, token ?? '', 'a password of twelve')).toBe(200)
      expect(await logIn(proxy, 'you@example.org', 'a password of twelve')).toBe(200)
      for (const secret of [key, token]) expect(proxy.output()).not.toContain(secret)
      proxy.signal('SIGTERM')
      await proxy.ended()

      proxy = await start()
      await waitUntil('the proxy listens', () => proxy.output().includes('listens at'))
      expect(proxy.output()).not.toContain('no project yet')
      proxy.signal('SIGTERM')
      await proxy.ended()
      const owner = new URL(environment.DATABASE_URL ?? '')
      await runAsAdmin(owner.href, 'drop schema model_proxy cascade')
    },
    240_000,
  )

  test('without a dashboard, and with a provider, prints the commands that apply; a shell needs the settings', async () => {
    const proxy = await startProxyProcess({ ...environment, DASHBOARD: 'off', AGGREGATOR_API_KEY: 'sk-none' })
    expect(proxy.output()).toMatch(
      /^There is no project yet\. To create one, with a key, run in a shell that has the settings of this proxy:\n\n(npx )?bun run create-project acme\n(npx )?bun run create-key acme first\n\n/m,
    )
    proxy.signal('SIGTERM')
    await proxy.ended()
  }, 120_000)

  describeCommands(() => environment)
})

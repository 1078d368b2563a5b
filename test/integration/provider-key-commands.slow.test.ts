/** The commands by which operators store and reseal provider keys, as processes. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { describeReal, type Stores } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams, storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { fillDataDir } from '../harness/fill-data-dir.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { bareFlags, psqlPath, runPsql } from './run-psql.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const hello = (model = 'gpt-4o-mini') => ({
  model,
  messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }],
})

const upstreams = duringTests(startUpstreams)
beforeEach(() => upstreams.reset())

const sentKeys = () => upstreams.openai.requests.map(request => request.headers.authorization)

interface Outcome {
  exitCode: number
  stdout: string
  stderr: string
}

/** Runs a command outside the repository's directory, with these settings only. */
async function run(command: string[], environment: Record<string, string>, input = ''): Promise<Outcome> {
  const running = Bun.spawn(command, {
    cwd: tmpdir(),
    env: { ...bareEnvironment(), ...environment },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  return { exitCode: await running.exited, stdout, stderr }
}

const setKey = (environment: Record<string, string>, args: string[], secret: string) =>
  run([join(root, 'scripts/set-provider-key.sh'), ...args], environment, secret)
const reseal = (environment: Record<string, string>) =>
  run([process.execPath, join(root, 'src/process/server.ts'), 'reseal'], environment)

describeReal('operators’ commands for provider keys', backend => {
  let stores: Stores
  let proxy: TestProxy
  let environment: Record<string, string>
  let project: string
  let key: string

  beforeAll(async () => {
    stores = await backend.open()
    environment = { DATABASE_URL: stores.databaseUrl ?? '', ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }
    proxy = await startProxy({ stores, environment: upstreams.environment })
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })
  afterAll(() => proxy.stop())

  test('set-provider-key.sh prints the last four characters, and the next request uses the key', async () => {
    const set = await setKey(environment, [project, 'openai'], 'sk-from-the-script-1234\n')
    expect(set).toEqual({ exitCode: 0, stdout: '1234\n', stderr: '' })
    expect((await ask(proxy, key, hello())).status).toBe(200)
    expect(sentKeys()).toEqual(['Bearer sk-from-the-script-1234'])
  })

  test.each([
    [['nobody', 'openai'], 'sk-0123456789', /^project "nobody" does not exist\n$/],
    [
      ['PROJECT', 'acme'],
      'sk-0123456789',
      /^provider "acme" does not exist; providers are: openai, anthropic, groq, openrouter, /,
    ],
    [['PROJECT', 'openai'], '', /^the key is missing: pass it on standard input\n$/],
    [['PROJECT', 'openai'], 'two words', /^the key on standard input is not valid: [^\n]+\n$/],
    [['PROJECT', 'openai'], 'x'.repeat(2_000), /^the key on standard input is not valid: [^\n]+\n$/],
    [['PROJECT'], 'sk-0123456789', /^usage: [^\n]+\n$/],
    [['PROJECT', 'openai', 'named', '1', 'more'], 'sk-0123456789', /^usage: [^\n]+\n$/],
    [['PROJECT', 'openai', 'named', '0'], 'sk-0123456789', /^weight "0" is not valid: [^\n]+\n$/],
  ])('bad input ends non-zero with one line: %j', async (args, secret, message) => {
    const before = await proxy.query('select * from provider_keys')
    const named = args.map(arg => (arg === 'PROJECT' ? project : arg))
    const outcome = await setKey(environment, named, secret)
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' })
    expect(outcome.stderr).toMatch(message)
    if (secret !== '') expect(outcome.stderr).not.toContain(secret)
    expect(await proxy.query('select * from provider_keys')).toEqual(before)
  })

  test('without ENCRYPTION_KEY nothing is stored, and the variable is named', async () => {
    const { ENCRYPTION_KEY: _, ...keyless } = environment
    const outcome = await setKey(keyless, [project, 'groq'], 'sk-0123456789')
    expect(outcome).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: "The project's groq key cannot be stored: the operator must set ENCRYPTION_KEY.\n",
    })
  })

  test.skipIf(!psqlPath)('list and remove show only the last four characters', async () => {
    await setKey(environment, [project, 'openai'], 'sk-from-the-script-1234')
    await setKey(environment, [project, 'groq'], 'short')
    const psql = (script: string, variables: string[]) =>
      runPsql(stores.databaseUrl ?? '', [
        ...bareFlags,
        ...variables.flatMap(v => ['-v', v]),
        '-f',
        join(root, 'scripts', script),
      ])
    const listed = await psql('list-provider-keys.sql', [`project=${project}`])
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
    expect(listed.stdout).toMatch(
      new RegExp(
        `^groq\\|\\*{4}\\|${time}\\|${time}\\|default\\|1\nopenai\\|1234\\|${time}\\|${time}\\|default\\|1\n$`,
      ),
    )
    const removed = await psql('remove-provider-key.sql', [`project=${project}`, 'provider=openai'])
    expect(removed).toEqual({ exitCode: 0, stdout: '1234\n', stderr: '' })
    for (const [script, variables, message] of [
      [
        'remove-provider-key.sql',
        [`project=${project}`, 'provider=openai'],
        /has no key named "default" for provider "openai"/,
      ],
      ['remove-provider-key.sql', ['project=nobody', 'provider=openai'], /project "nobody" does not exist/],
      ['remove-provider-key.sql', [`project=${project}`], /provider is missing/],
      ['list-provider-keys.sql', ['project=nobody'], /project "nobody" does not exist/],
      ['list-provider-keys.sql', [], /project is missing/],
    ] as const) {
      const outcome = await psql(script, [...variables])
      expect(outcome).toMatchObject({ exitCode: 3, stdout: '' })
      expect(outcome.stderr).toMatch(message)
      expect(outcome.stderr.trimEnd()).not.toContain('\n')
    }
  })

  test('rotation: both keys decrypt, reseal moves everything to the new one, the old one is removed', async () => {
    await stores.database.runScript('delete from provider_keys')
    await storeKey(stores, project, 'openai', 'sk-kept-all-along')
    const [before, now] = [TEST_ENCRYPTION_KEY, randomBytes(32).toString('base64')]
    const works = async (settings: Record<string, string>) => {
      const rotated = await startProxy({ stores, environment: { ...upstreams.environment, ...settings } })
      const { status } = await ask(rotated, key, hello())
      await rotated.stop()
      return status
    }
    expect(await works({ ENCRYPTION_KEY: now })).toBe(503)
    expect(await works({ ENCRYPTION_KEY: now, ENCRYPTION_KEY_PREVIOUS: before })).toBe(200)

    const rotated = { ...environment, ENCRYPTION_KEY: now, ENCRYPTION_KEY_PREVIOUS: before }
    const versionOf = () => proxy.query('select version, updated_at from provider_keys')
    const version = await versionOf()
    expect(await reseal(rotated)).toMatchObject({
      exitCode: 0,
      stdout: 'Secrets: 1 re-encrypted, 0 unchanged, 0 failed\n',
    })
    expect(await reseal(rotated)).toMatchObject({
      exitCode: 0,
      stdout: 'Secrets: 0 re-encrypted, 1 unchanged, 0 failed\n',
    })
    expect(await versionOf()).toEqual(version)
    expect(await works({ ENCRYPTION_KEY: now })).toBe(200)
    expect(await works({ ENCRYPTION_KEY: before })).toBe(503)
    expect(sentKeys()).toEqual(Array(2).fill('Bearer sk-kept-all-along'))

    const lost = await reseal({ ...environment, ENCRYPTION_KEY: randomBytes(32).toString('base64') })
    expect(lost).toMatchObject({ exitCode: 1, stdout: 'Secrets: 0 re-encrypted, 0 unchanged, 1 failed\n' })
    expect(lost.stderr).toContain(`${project}: The project's openai key cannot be encrypted again`)
  })
})

describe('provider keys without configuration (embedded)', () => {
  test('are stored while the proxy runs and while it does not, with its own key file', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-byok-'))
    await fillDataDir(dataDir)
    const port = String(findFreePort())
    const settings = { DATA_DIR: dataDir, EMBEDDED_PG_PORT: port }
    const { ENCRYPTION_KEY: _, ...reached } = upstreams.environment
    const start = () => startProxyProcess({ ...settings, ...reached })
    try {
      let proxy = await start()
      const database = openServerDatabase({ url: await embeddedUrl(dataDir, port), maxConnections: 1 })
      await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
      const key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'test' })
      await database.close()

      // The data directory contains the port.
      const folder = { DATA_DIR: dataDir }
      expect(await setKey(folder, ['acme', 'openai'], 'sk-while-it-runs')).toMatchObject({ exitCode: 0, stderr: '' })
      expect((await stat(join(dataDir, 'encryption.key'))).mode & 0o777).toBe(0o600)
      expect((await ask(proxy, key, hello())).status).toBe(200)
      proxy.signal('SIGTERM')
      await proxy.ended(20_000)

      expect(await setKey(settings, ['acme', 'openai'], 'sk-while-it-rests')).toMatchObject({ exitCode: 0, stderr: '' })
      proxy = await start()
      expect((await ask(proxy, key, hello())).status).toBe(200)
      expect(sentKeys()).toEqual(['Bearer sk-while-it-runs', 'Bearer sk-while-it-rests'])

      proxy.signal('SIGTERM')
      await proxy.ended(20_000)
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }, 240_000)
})

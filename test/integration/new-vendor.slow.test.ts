/** A vendor with a known format is one row: tested in a copy of the tree with no other change. */
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { type FakeAnthropic, startFakeAnthropic } from '../fake-anthropic/server.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { ask } from '../harness/client.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COPIED = ['src', 'sql', 'scripts', 'package.json', 'tsconfig.json', 'bunfig.toml', 'test/harness']
/** A vendor of each format. Their model names also look like another vendor's. */
const ROWS = `insert into vendors (
    name, title, base_url, format, endpoints, passes, keeps, headers, model_names, prefixes_models, makes_models, client_agent, place
)
values
    ('acme', 'Acme', 'https://api.acme.example/inference/v1', 'openai', '{chat}', '{}', '{}', '{}', '^llama-', true, true, null, 10),
    ('bolt', 'Bolt', 'https://api.bolt.example', 'anthropic', '{messages}', '{}', '{}', '{}', '^claude-', false, true, null, 11);`

describe('a new vendor', () => {
  const folder = createTemporaryDirectory()
  const tree = join(folder, 'tree')
  const settings: Record<string, string> = { DATA_DIR: join(folder, 'data'), ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }
  let acme: FakeProvider
  let bolt: FakeAnthropic
  let proxy: ProxyProcess

  /** Runs a command in the copy. Returns its output, or throws an error with all of it. */
  function run(command: readonly string[], environment: Record<string, string> = {}, input = ''): string {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
      cwd: tree,
      env: { ...bareEnvironment(), ...environment },
      stdin: new Blob([input]),
    })
    if (exitCode !== 0) throw new Error(`${command.join(' ')}:\n${stdout}${stderr}`)
    return String(stdout)
  }

  beforeAll(async () => {
    for (const name of COPIED) cpSync(join(ROOT, name), join(tree, name), { recursive: true })
    for (const name of ['node_modules', 'vendor']) symlinkSync(join(ROOT, name), join(tree, name))
    writeFileSync(join(tree, 'sql/seed/006_vendors.sql'), ROWS)
    run([process.execPath, 'scripts/generate-types.ts'])
    ;[acme, bolt] = await Promise.all([startFakeProvider({ flavour: 'groq' }), startFakeAnthropic()])
    const port = String(findFreePort())
    const environment = {
      ACME_BASE_URL: acme.baseUrl,
      BOLT_BASE_URL: bolt.baseUrl,
      EMBEDDED_PG_PORT: port,
      DASHBOARD: 'off',
    }
    Object.assign(settings, environment, { METRICS_PORT: '0' })
    proxy = await startProxyProcess(settings, { server: join(tree, 'src/process/server.ts') })
  }, 120_000)
  afterAll(() => Promise.all([acme?.stop(), bolt?.stop()]))

  test('needs no other change: everything listed by vendor follows', () => {
    writeFileSync(join(tree, 'tsconfig.src.json'), '{"extends":"./tsconfig.json","include":["src"]}')
    for (const project of ['tsconfig.src.json', 'src/dashboard/pages'])
      expect(run([join(tree, 'node_modules/.bin/tsc'), '--noEmit', '-p', project])).toBe('')
  }, 300_000)

  test('is reached with a project’s own key, by its models’ native names, in the format of any client', async () => {
    const url = await embeddedUrl(settings.DATA_DIR ?? '', settings.EMBEDDED_PG_PORT ?? '')
    const database = openServerDatabase({ url, maxConnections: 1 })
    await callFunction(database, 'create_project', { project: 'ours', plan: 'pro' })
    const key = await callFunction(database, 'issue_key', { project: 'ours', key_type: 'project', key_name: 'test' })
    const question = (model: string) => ({ model, messages: [{ role: 'user', content: `Hello ${model}` }] })
    const before = await ask(proxy, key, question('acme/llama-9'))
    expect([before.status, before.json.error.code]).toEqual([503, 'service_unavailable'])
    for (const [vendor, secret] of Object.entries({ acme: 'sk-of-acme', bolt: 'sk-of-bolt' }))
      run([join(tree, 'scripts/set-provider-key.sh'), 'ours', vendor], settings, secret)

    const answers = [
      await ask(proxy, key, question('llama-3.1-8b-instant')),
      await ask(proxy, key, question('acme/llama-3.1-8b-instant')),
      await ask(proxy, key, question('claude-haiku-4-5')),
    ]
    expect(answers.map(({ status, headers }) => [status, headers.get('x-proxy-provider')])).toEqual([
      [200, 'acme'],
      [200, 'acme'],
      [200, 'bolt'],
    ])
    expect(acme.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-of-acme',
      'Bearer sk-of-acme',
    ])
    expect(bolt.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['sk-of-bolt'])
    // A client that keeps the rest of the vendor's base URL.
    const client = { baseUrl: proxy.baseUrl.replace(/\/v1$/, '/inference/v1') }
    expect((await ask(client, key, question('llama-3.1-8b-instant'))).cache).toBe('HIT')
    await expect(
      database.call(`select store_provider_key(1, 'nobody', '\\x01', 'abcd', 'default', 1)`, []),
    ).rejects.toThrow('providers are: openai, anthropic, groq, acme, bolt')
    await database.close()
  })
})

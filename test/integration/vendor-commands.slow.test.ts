/** The command by which operators set vendors, beside a running proxy with an embedded database. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const SCRIPT = fileURLToPath(new URL('../../scripts/set-provider-key.sh', import.meta.url))

describe('set-vendor', () => {
  const folder = createTemporaryDirectory()
  const settings: Record<string, string> = { DATA_DIR: join(folder, 'data'), DASHBOARD: 'off', METRICS_PORT: '0' }
  let acme: FakeProvider
  let proxy: ProxyProcess
  let key: string

  function run(command: readonly string[], input = '') {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
      env: { ...bareEnvironment(), ...settings },
      stdin: new Blob([input]),
    })
    return { exitCode, stdout: String(stdout), stderr: String(stderr) }
  }
  const setVendor = (args: readonly string[], input?: string) =>
    run([process.execPath, SERVER, 'set-vendor', ...args], input)

  beforeAll(async () => {
    acme = await startFakeProvider()
    settings.EMBEDDED_PG_PORT = String(findFreePort())
    proxy = await startProxyProcess(settings)
    const url = await embeddedUrl(settings.DATA_DIR ?? '', settings.EMBEDDED_PG_PORT)
    const database = openServerDatabase({ url, maxConnections: 1 })
    await callFunction(database, 'create_project', { project: 'ours', plan: 'pro' })
    key = await callFunction(database, 'issue_key', { project: 'ours', key_type: 'project', key_name: 'test' })
    await database.close()
  }, 120_000)
  afterAll(() => acme?.stop())

  async function expectKey(secret: string): Promise<void> {
    await waitUntil('the proxy uses the key', async () => {
      await ask(proxy, key, { ...question(`Hello ${crypto.randomUUID()}`), model: 'acme/nova-1' })
      return acme.requests.at(-1)?.headers.authorization === `Bearer ${secret}`
    })
  }

  test('adds a vendor whose keys are stored with it or by projects, and removes it', async () => {
    const address = [`base_url=${acme.baseUrl}`, 'allows_private_address=true']
    expect(setVendor(['acme', ...address, '--key', '-'], 'sk-of-installation\n')).toEqual({
      exitCode: 0,
      stdout: 'tion\n',
      stderr: '',
    })
    await expectKey('sk-of-installation')
    expect(setVendor(['acme', '--key', '-'], 'sk-of-installation-2')).toMatchObject({ exitCode: 0, stderr: '' })
    await expectKey('sk-of-installation-2')
    expect(run([SCRIPT, 'ours', 'acme'], 'sk-of-the-project')).toMatchObject({ exitCode: 0, stdout: 'ject\n' })
    await expectKey('sk-of-the-project')
    expect(setVendor(['acme', '--remove']).stderr).toContain('has keys (of 1 projects, one of the installation)')
    expect(setVendor(['acme', '--remove', '--with-keys'])).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    await waitUntil('the proxy uses it no more', async () => {
      const answer = await ask(proxy, key, { ...question(`Hello ${crypto.randomUUID()}`), model: 'acme/nova-1' })
      return answer.status === 503 && answer.json.error.code === 'service_unavailable'
    })
    expect(run([SCRIPT, 'ours', 'acme'], 'sk-of-the-project').stderr).toContain('provider "acme" does not exist')
  }, 120_000)

  test.each([
    [[], 'the name of the vendor is missing'],
    [['acme', 'base_url'], 'must be a column and its value'],
    [['acme', '--key', 'sk-secret'], 'a key is read from standard input'],
    [['acme', 'base_url=https://acme.example', '--remove'], '--remove removes the vendor'],
    [['acme'], 'vendor "acme" does not exist'],
    [['groq', 'colour=red'], 'a vendor has no column "colour"'],
  ])('rejects %j in one line', (args, message) => {
    const { exitCode, stdout, stderr } = setVendor(args)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('sk-secret')
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('explains its columns', () => {
    const { exitCode, stdout } = setVendor(['--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('--key -')
    expect(stdout).toContain('  base_url (text): The base URL')
  })
})

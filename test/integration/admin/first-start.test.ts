import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findFreePort } from '../../../scripts/bench/processes.ts'
import { bareEnvironment } from '../../harness/bare-environment.ts'
import { fillDataDir } from '../../harness/fill-data-dir.ts'

const server = fileURLToPath(new URL('../../../src/process/server.ts', import.meta.url))
let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-first-start-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** Starts the proxy on an embedded database, waits until it says so, and hands over what it printed. */
async function whileRunning<T>(
  environment: Record<string, string>,
  run: (printed: string, root: string) => Promise<T>,
): Promise<T> {
  const port = await findFreePort()
  const env = {
    ...bareEnvironment(),
    DATA_DIR: dataDir,
    EMBEDDED_PG_PORT: '0',
    PORT: String(port),
    LOG_LEVEL: 'silent',
    ...environment,
  }
  const proxy = Bun.spawn([process.execPath, server], { env, stdout: 'pipe', stderr: 'inherit' })
  const reader = proxy.stdout.getReader()
  let printed = ''
  try {
    while (!printed.includes('reach it with')) {
      const { value, done } = await reader.read()
      if (done) break
      printed += new TextDecoder().decode(value)
    }
    await Bun.sleep(200)
    const { value } = await Promise.race([reader.read(), Bun.sleep(300).then(() => ({ value: undefined }))])
    printed += value === undefined ? '' : new TextDecoder().decode(value)
    return await run(printed, `http://127.0.0.1:${port}`)
  } finally {
    proxy.kill('SIGTERM')
    await proxy.exited
  }
}

function logIn(root: string, password: string): Promise<Response> {
  return fetch(`${root}/dashboard/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@localhost', password }),
  })
}

test('the first start prints a login that works, and no later one prints another', async () => {
  const password = await whileRunning({}, async (printed, root) => {
    expect(printed).toContain(`Dashboard at ${root}/dashboard: log in as admin@localhost`)
    const found = /admin@localhost with (\S+),/.exec(printed)?.[1] ?? ''
    expect((await logIn(root, found)).status).toBe(200)
    expect(await (await fetch(`${root}/dashboard`)).text()).toContain('<div id="root">')
    return found
  })
  await whileRunning({}, async (printed, root) => {
    expect(printed).not.toContain('admin@localhost')
    expect((await logIn(root, password)).status).toBe(200)
  })
}, 120_000)

test('off, there is neither page nor API; with a port of its own, both are there alone', async () => {
  await fillDataDir(dataDir)
  await whileRunning({ DASHBOARD: 'off' }, async (printed, root) => {
    expect(printed).not.toContain('admin@localhost')
    for (const path of ['/dashboard', '/dashboard/api/session', '/v1/organization/projects', '/openapi.json']) {
      expect([path, (await fetch(`${root}${path}`)).status]).toEqual([path, 404])
    }
  })
  const port = await findFreePort()
  await whileRunning({ DASHBOARD: String(port) }, async (printed, root) => {
    const apart = `http://127.0.0.1:${port}`
    expect(printed).toContain(`Dashboard at ${apart}/dashboard`)
    expect((await fetch(`${root}/v1/organization/projects`)).status).toBe(404)
    expect((await fetch(`${apart}/v1/organization/projects`)).status).toBe(401)
    expect((await fetch(`${apart}/dashboard`)).status).toBe(200)
    expect((await fetch(`${apart}/v1/health`)).status).toBe(404)
  })
}, 120_000)

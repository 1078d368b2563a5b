import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
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

interface Started {
  root: string
  /** Reads the output until it contains `text`. Returns everything printed so far. */
  printed(text: string): Promise<string>
}

/** Starts the proxy on an embedded database, runs the callback, and stops the proxy. Resolves to everything that it printed. */
async function whileRunning(
  environment: Record<string, string>,
  run: (started: Started) => Promise<unknown>,
): Promise<string> {
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
  let output = ''
  const printed = async (text: string) => {
    while (!output.includes(text)) {
      const { value, done } = await reader.read()
      if (done) break
      output += new TextDecoder().decode(value)
    }
    return output
  }
  try {
    await printed('reach it with')
    await run({ root: `http://127.0.0.1:${port}`, printed })
  } finally {
    proxy.kill('SIGTERM')
    await proxy.exited
  }
  return printed('\0')
}

function logIn(root: string, password: string): Promise<Response> {
  return fetch(`${root}/dashboard/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@localhost', password }),
  })
}

test('a healthy first start has printed its test key, and a start that cannot listen prints it, too', async () => {
  const port = await findFreePort()
  const written = join(dataDir, 'printed')
  const start = () =>
    Bun.spawn(['sh', '-c', `exec "$0" "$1" > ${written} 2>&1`, process.execPath, server], {
      env: { ...bareEnvironment(), DATA_DIR: dataDir, EMBEDDED_PG_PORT: '0', PORT: String(port), LOG_LEVEL: 'silent' },
    })
  const taken = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() })
  expect(await start().exited).not.toBe(0)
  expect(await Bun.file(written).text()).toMatch(/test key, shown this once: lgw_test_\w+/)
  await taken.stop(true)

  await rm(dataDir, { recursive: true })
  await mkdir(dataDir)
  const proxy = start()
  try {
    while ((await fetch(`http://127.0.0.1:${port}/v1/health`).catch(() => null))?.status !== 200);
    expect(readFileSync(written, 'utf8')).toMatch(/listens at.*lgw_test_\w+.*curl -i/s)
  } finally {
    proxy.kill('SIGTERM')
    await proxy.exited
  }
})

test('the first start prints a working login, and no later one prints another', async () => {
  let password = ''
  await whileRunning({}, async ({ root, printed }) => {
    const welcome = await printed('admin@localhost')
    expect(welcome).toContain(`Dashboard at ${root}/dashboard: log in as admin@localhost`)
    password = /admin@localhost with (\S+),/.exec(welcome)?.[1] ?? ''
    expect((await logIn(root, password)).status).toBe(200)
    expect(await (await fetch(`${root}/dashboard`)).text()).toContain('<div id="root">')
  })
  // The login takes at least as long as the check that could print another password.
  const later = await whileRunning({}, async ({ root }) => expect((await logIn(root, password)).status).toBe(200))
  expect(later).not.toContain('admin@localhost')
}, 120_000)

test('off, there is neither page nor API; with its own port, both are only there', async () => {
  await fillDataDir(dataDir)
  const off = await whileRunning({ DASHBOARD: 'off' }, async ({ root }) => {
    expect((await openPage(root)).status).toBe(404)
    for (const path of ['/dashboard', '/dashboard/api/session', '/v1/organization/projects', '/openapi.json']) {
      expect([path, (await fetch(`${root}${path}`)).status]).toEqual([path, 404])
    }
  })
  expect(off).not.toContain('admin@localhost')
  const port = await findFreePort()
  await whileRunning({ DASHBOARD: String(port) }, async ({ root, printed }) => {
    const apart = `http://127.0.0.1:${port}`
    expect(await printed('admin@localhost')).toContain(`Dashboard at ${apart}/dashboard`)
    expect((await fetch(`${root}/v1/organization/projects`)).status).toBe(404)
    expect((await fetch(`${apart}/v1/organization/projects`)).status).toBe(401)
    expect((await fetch(`${apart}/dashboard`)).status).toBe(200)
    expect((await fetch(`${apart}/v1/health`)).status).toBe(404)
    // The redirect from `/` would reveal where the dashboard is.
    expect((await openPage(root)).status).toBe(404)
    expect((await openPage(apart)).headers.get('location')).toBe('/dashboard')
    expect((await fetch(`${apart}/`)).status).toBe(404)
  })
}, 120_000)

function openPage(root: string): Promise<Response> {
  return fetch(`${root}/`, { headers: { accept: 'text/html' }, redirect: 'manual' })
}

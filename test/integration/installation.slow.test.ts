/** `npx model-proxy` on a machine with Node alone, and the program as a single file: both as `bun run build` makes them. */
import { cpSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Server } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { findFreePort } from '../../scripts/bench/processes.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { describeReal } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { psqlPath } from './run-psql.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const target = `${process.platform}-${process.arch}`
const program = join(root, 'dist/npm', target, 'model-proxy')
const { version } = packageJson
const machine = createTemporaryDirectory()

let registry: Server<undefined>
beforeAll(async () => {
  const built = Bun.spawnSync([process.execPath, 'run', 'build'], { cwd: root, stderr: 'pipe' })
  expect(
    built.stderr
      .toString()
      .replace(/^\$ .*$/gm, '')
      .trim(),
  ).toBe('')
  registry = serveRegistry()
  // The only programs in PATH.
  mkdirSync(join(machine, 'bin'))
  for (const name of ['node', 'npm', 'npx', 'sh'])
    symlinkSync(realpathSync(Bun.which(name) ?? ''), join(machine, 'bin', name))
}, 180_000)
afterAll(() => registry?.stop(true))

/** Serves the packages for this platform, and none for others. */
function serveRegistry() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch({ url }) {
      const { pathname, origin } = new URL(url)
      const name = pathname.slice(1)
      if (name.endsWith('.tgz')) return new Response(Bun.file(join(root, 'dist', name)))
      const manifest = Bun.file(join(root, 'dist/npm', name.replace('model-proxy-', ''), 'package.json'))
      if (!(await manifest.exists())) return new Response('{}', { status: 404 })
      const packed = { ...(await manifest.json()), dist: { tarball: `${origin}/${name}-${version}.tgz` } }
      return Response.json({ name, 'dist-tags': { latest: version }, versions: { [version]: packed } })
    },
  })
}

const bare = () => ({
  ...bareEnvironment(),
  HOME: machine,
  LOG_LEVEL: 'silent',
  METRICS_PORT: '0',
  EMBEDDED_PG_PORT: '0',
})

/** Runs `npx model-proxy` in a directory. Resolves when it has printed `until`. */
async function npx(folder: string, until: RegExp) {
  const port = findFreePort()
  const child = Bun.spawn([join(machine, 'bin/npx'), '-y', 'model-proxy'], {
    cwd: folder,
    env: {
      ...bare(),
      PATH: join(machine, 'bin'),
      PORT: String(port),
      npm_config_registry: registry.url.href,
      npm_config_cache: join(folder, '.npm'),
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  endAfterFile(child)
  let printed = ''
  const { promise, resolve } = Promise.withResolvers<void>()
  // The output is read to its end, because a process ends when its pipe is closed.
  void (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      printed += text
      if (until.test(printed)) resolve()
    }
    resolve()
  })()
  await promise
  return { child, printed, baseUrl: `http://127.0.0.1:${port}` }
}

/** npx itself ends immediately, before the proxy has stopped. */
const hasStopped = (baseUrl: string) =>
  waitUntil('the proxy stops', async () => !(await fetch(`${baseUrl}/livez`).catch(() => null)))

async function ask(baseUrl: string, key: string, content: string, more: object = {}) {
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], ...more }),
  })
  const { choices, error } = (await response.json()) as { choices?: [{ message: { content: string } }]; error?: object }
  return { cache: response.headers.get('x-proxy-cache'), content: choices?.[0].message.content, error }
}

const ANSWERS_WITHIN_MS = 10_000

/** From the command in an empty directory and an empty npm cache to the first response. */
async function firstAnswer() {
  const folder = join(machine, 'first')
  mkdirSync(folder)
  const startedMs = performance.now()
  const { child, printed, baseUrl } = await npx(folder, /lgw_test_\w+/)
  const key = /lgw_test_\w+/.exec(printed)?.[0] ?? ''
  const answer = await ask(baseUrl, key, 'What is the capital of France?')
  expect(answer).toMatchObject({ cache: 'MISS', content: expect.stringContaining('[sandbox]') })
  return { child, key, folder, baseUrl, tookMs: performance.now() - startedMs }
}

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

test('npx, with Node alone: a response within ten seconds, and everything else that a checkout does', async () => {
  const { child, key, folder, baseUrl, tookMs } = await firstAnswer()
  // The limit is for an idle machine.
  expect(tookMs).toBeLessThan(ANSWERS_WITHIN_MS * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()))

  // The lexicon, the sandbox's schemas, the worker thread's jobs, and the pages.
  expect((await ask(baseUrl, key, "what's the capital of france")).cache).toBe('HIT-SEMANTIC')
  const format = { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } }
  const { content = '' } = await ask(baseUrl, key, 'A city?', { response_format: format })
  expect(JSON.parse(content)).toEqual({ city: expect.any(String) })
  expect((await ask(baseUrl, key, 'long '.repeat(100_000))).content).toContain('[sandbox]')
  const page = await (await fetch(`${baseUrl}/dashboard`)).text()
  for (const [, path] of page.matchAll(/(?:src|href)="([^"]+)"/g))
    expect((await fetch(`${baseUrl}${path}`)).status, path).toBe(200)

  child.kill('SIGTERM')
  await hasStopped(baseUrl)

  const again = await npx(folder, /Another key .*\n/)
  expect(again.printed).toContain('Another key for a project: npx -y model-proxy create-key demo second --type test\n')
  expect(again.printed).toContain('Embedded database in ./data')
  expect((await ask(again.baseUrl, key, 'What is the capital of France?')).cache).toBe('HIT')
  // SIGKILL orphans the shell that npx started. The proxy stops nevertheless.
  again.child.kill('SIGKILL')
  await hasStopped(again.baseUrl)
}, 120_000)

const MIB = 1024 * 1024

/** The total size of the files in a directory. */
function mebibytesOf(folder: string): number {
  const files = [...new Bun.Glob('**/*').scanSync({ cwd: folder, dot: true })]
  return files.reduce((sum, file) => sum + lstatSync(join(folder, file)).size, 0) / MIB
}

test('its installation is small, and each folder builds the same program: the package alone, and a checkout without development dependencies', () => {
  expect(mebibytesOf(join(root, 'dist/npm', target))).toBeLessThan(150)
  const checkout = join(machine, 'checkout')
  mkdirSync(checkout)
  for (const name of ['package.json', 'bun.lock', 'bunfig.toml']) cpSync(join(root, name), join(checkout, name))
  const args = ['install', '--production', '--frozen-lockfile', '--ignore-scripts']
  const installed = Bun.spawnSync([process.execPath, ...args], { cwd: checkout, stdout: 'pipe', stderr: 'pipe' })
  expect(installed.exitCode, installed.stderr.toString()).toBe(0)
  const size = mebibytesOf(join(checkout, 'node_modules'))
  expect(size).toBeGreaterThan(50)
  expect(size).toBeLessThan(250)

  // Another folder, without development dependencies, builds the same program.
  for (const name of ['src', 'sql', 'scripts', 'tsconfig.json', '.env.example', 'LICENSE', 'README.md'])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`
  const built = Bun.spawnSync([process.execPath, 'run', 'build'], { cwd: checkout, env: { ...bare(), PATH } })
  expect(built.exitCode, built.stderr.toString()).toBe(0)
  const hashOf = (path: string) => new Bun.CryptoHasher('sha256').update(readFileSync(path)).digest('hex')
  expect(hashOf(join(checkout, 'dist/npm', target, 'model-proxy'))).toBe(hashOf(program))
}, 300_000)

describe('the program as one file', () => {
  function run(args: string[], environment: Record<string, string> = {}) {
    const cwd = temporaryFolderIn('run')
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { cwd, env: { ...bare(), ...environment } })
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  function temporaryFolderIn(name: string): string {
    const folder = join(machine, `${name}-${crypto.randomUUID()}`)
    mkdirSync(folder)
    return folder
  }

  test('prints its version, its commands and its settings', () => {
    expect(run(['--version'])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
    const { stdout } = run(['--help'])
    expect(stdout).toContain('model-proxy migrate')
    expect(stdout).toMatch(/^PORT=3000$/m)
    expect(run(['--prot=1'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--help lists') })
  })

  test('has the operators’ commands, on an embedded database too', () => {
    expect(run(['migrate'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Applied: baseline/) })
    expect(run(['reseal'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`run \`${program} migrate\``),
    })
    expect(run(['catalogue:sync', '--wet'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("'--wet'") })
  })

  test('reports what a sentence model lacks, and runs one whose runtime is in its directory', async () => {
    expect(run([], { EMBEDDER: 'local' }).stderr).toContain(`\`${program} embedder:install\` installs it`)
    const model = temporaryFolderIn('model')
    cpSync(join(root, 'vendor/all-minilm-l6-v2'), model, { recursive: true })
    const lacking = run([], { EMBEDDER: 'local', EMBEDDINGS_PATH: model })
    expect(lacking.stderr).toContain(`not installed; run ${program} embedder:install`)
    mkdirSync(join(model, 'runtime'))
    symlinkSync(join(root, 'node_modules'), join(model, 'runtime/node_modules'))
    const environment = { DATA_DIR: temporaryFolderIn('data'), EMBEDDER: 'local', EMBEDDINGS_PATH: model }
    const proxy = await startProxyProcess({ ...bare(), ...environment, LOG_LEVEL: 'info' }, { server: program })
    await waitUntil('the proxy prints its embedder', () => /"embedder":"local-[0-9a-f]{16}-384"/.test(proxy.output()))
    proxy.signal('SIGTERM')
    expect(await proxy.ended()).toBe(0)
  })

  test.skipIf(!psqlPath)('opens the port for psql', async () => {
    const port = String(findFreePort())
    const dataDir = temporaryFolderIn('data')
    const proxy = await startProxyProcess({ ...bare(), DATA_DIR: dataDir, EMBEDDED_PG_PORT: port }, { server: program })
    const url = `postgres://postgres@127.0.0.1:${port}/postgres?passfile=${dataDir}/psql.pgpass`
    const psql = Bun.spawnSync([psqlPath ?? '', url, '-qAtc', "select '[1,2]'::vector <=> '[2,1]'"])
    expect(Number(psql.stdout)).toBeCloseTo(0.2)
    proxy.signal('SIGTERM')
    expect(await proxy.ended()).toBe(0)
  })

  describeReal('on real stores', backend => {
    test('runs workers', async () => {
      const { databaseUrl, redisUrl } = await backend.open()
      const environment = { ...bare(), WORKERS: '2', DATABASE_URL: databaseUrl ?? '', REDIS_URL: redisUrl ?? '' }
      const proxy = await startProxyProcess({ ...environment, LOG_LEVEL: 'info' }, { server: program })
      await waitUntil('both workers listen', () => proxy.output().match(/"msg":"listening"/g)?.length === 2)
      proxy.signal('SIGTERM')
      expect(await proxy.ended()).toBe(0)
    })
  })
})

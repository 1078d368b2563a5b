/**
 * The container image, as the Dockerfile builds it, started as compose starts it: a read-only root, an unprivileged user, no capabilities.
 *
 * Needs root, buildah and the Dockerfile's base image among its images. IMAGE_BUILD_OPTIONS has further options of `buildah build`, such as a
 * volume with the certificates of a registry mirror.
 */
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { findFreePort } from '../../scripts/bench/processes.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { findEngine } from './find-engine.ts'

const ROOT = join(import.meta.dirname, '../..')
const BASE = `oven/bun:${packageJson.devDependencies.bun}-slim`
const NAME = 'localhost/model-proxy-test'
const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch
const MAX_COMPRESSED_BYTES = 70e6
const MAX_BYTES = 200e6
/** Mounts the root read-only, with writable /tmp and /data, and starts the command with its user and without rights. */
const CONTAINER = `
mount --bind "$1" "$1" && mount --rbind /dev "$1/dev" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" && mount -t tmpfs -o mode=0700,uid=1000,gid=1000 tmpfs "$1/data"
exec setpriv --no-new-privs chroot --userspec=1000:1000 --groups=1000 "$@"`

async function runCommand(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${errors}`)
  return output.trim()
}

const buildah = (...args: string[]) => runCommand(findEngine('buildah') ?? '', ...args)

/** Returns what this machine lacks; null if the test can run. */
function findObstacle(): string | null {
  if (findEngine('buildah') === null) return 'buildah is not installed'
  if (process.getuid?.() !== 0) return 'the user is not root'
  const { exitCode } = Bun.spawnSync([findEngine('buildah') ?? '', 'inspect', '--type', 'image', BASE])
  return exitCode === 0 ? null : `the image ${BASE} is not on this machine`
}

const obstacle = findObstacle()

describe.skipIf(obstacle)(`the container image${obstacle ? `: skipped, ${obstacle}` : ''}`, () => {
  const root = join(createTemporaryDirectory(), 'root')
  let container: string

  beforeAll(async () => {
    const options = process.env.IMAGE_BUILD_OPTIONS?.split(' ') ?? []
    const platform = ['--build-arg', `TARGETARCH=${ARCHITECTURE}`, '--pull-never', '--layers', '--format=docker']
    await buildah(
      'build',
      ...platform,
      '--isolation=chroot',
      '--network=host',
      ...options,
      '--target=program',
      '-t',
      NAME,
      '.',
    )
    container = await buildah('from', '--pull-never', NAME)
    await runCommand('cp', '-a', await buildah('mount', container), root)
    for (const name of ['dev', 'proc']) mkdirSync(join(root, name))
  }, 900_000)
  afterAll(async () => {
    if (container) await buildah('rm', container)
    await buildah('rmi', NAME).catch(() => {})
  })

  test('contains the program, its libraries and no other program, and is small', async () => {
    const files = [...new Bun.Glob('**/*').scanSync({ cwd: root, dot: true })]
    const programs = files.filter(name => lstatSync(join(root, name)).mode & 0o111 && !/\.so\b/.test(name))
    expect(programs).toEqual(['usr/local/bin/model-proxy'])
    const bytes = files.map(name => lstatSync(join(root, name)).size).reduce((sum, size) => sum + size, 0)
    expect(bytes).toBeLessThan(MAX_BYTES)
    const compressed = await runCommand('sh', '-c', `tar -C '${root}' -cf - . | gzip | wc -c`)
    expect(Number(compressed)).toBeLessThan(MAX_COMPRESSED_BYTES)
    const { components } = await Bun.file(join(root, 'usr/share/model-proxy/sbom.cdx.json')).json()
    expect(components).toContainEqual(
      expect.objectContaining({ purl: expect.stringMatching(/^pkg:deb\/debian\/libc6@/) }),
    )
    expect(components).toContainEqual(expect.objectContaining({ name: 'ioredis' }))
  })

  test('answers with a read-only root, as its user, without capabilities, and reports its health', async () => {
    const { OCIv1 } = JSON.parse(await buildah('inspect', container))
    expect(OCIv1.config.User).toBe('1000:1000')
    const port = findFreePort()
    const image = Object.fromEntries(OCIv1.config.Env.map((line: string) => line.split(/=(.*)/s).slice(0, 2)))
    const environment = { ...image, HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: '0', EMBEDDED_PG_PORT: '0' }
    const inside = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', CONTAINER, 'sh', root]
    const program = '/usr/local/bin/model-proxy'
    const child = Bun.spawn([...inside, program], {
      env: { ...bareEnvironment(), ...environment, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    endAfterFile(child)
    let printed = ''
    void (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) printed += text
    })()
    await waitUntil('the image is ready', () => printed.includes('"msg":"listening"'))
    const [key] = /lgw_test_\w+/.exec(printed) ?? []
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(response.status).toBe(200)
    const check = (at: number) =>
      Bun.spawnSync([...inside, program, 'healthcheck'], {
        env: { ...environment, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', PORT: String(at) },
      }).exitCode
    expect(check(port)).toBe(0)
    expect(check(findFreePort())).toBe(1)
    // unshare's own child changes its user, and so outlives it.
    const inner = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')
    for (const id of inner) process.kill(Number(id), 'SIGKILL')
    await child.exited
  }, 180_000)
})

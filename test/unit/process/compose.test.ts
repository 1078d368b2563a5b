import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'

interface Service {
  image?: string
  build?: { context: string; target: string }
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  volumes?: string[]
  mem_limit?: string
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  logging?: { driver: string; options: Record<string, string> }
  env_file?: { path: string; required: boolean }[]
}

const root = new URL('../../../', import.meta.url)
const readText = (path: string) => Bun.file(new URL(path, root)).text()

/** Interpolates as Docker Compose does: `${NAME}` and `${NAME:-default}` from the environment, and `$$` for a dollar sign. */
function interpolate(text: string, environment: Record<string, string>): string {
  return text.replace(/\$\$|\$\{(\w+)(?::-([^}]*))?\}/g, (found, name?: string, fallback?: string) =>
    name === undefined ? '$' : environment[name] || (fallback ?? found),
  )
}

async function readCompose(environment: Record<string, string> = {}) {
  const text = interpolate(await readText('docker-compose.yml'), environment)
  return Bun.YAML.parse(text) as { services: Record<string, Service>; volumes: Record<string, null> }
}

describe('docker-compose.yml', () => {
  let services: Record<string, Service>

  beforeAll(async () => {
    services = (await readCompose()).services
  })

  test('has the stores and the proxy, which waits until they are healthy', () => {
    expect(Object.keys(services)).toEqual(['secrets', 'postgres', 'redis', 'proxy'])
    expect(services.proxy?.depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    })
    expect(services.postgres?.healthcheck?.test.join(' ')).toContain('pg_isready')
    expect(services.redis?.healthcheck?.test.join(' ')).toContain('redis-cli ping')
    expect(services.proxy?.build).toEqual({ context: '.', target: 'program' })
  })

  test('pins images by digest, pgvector at 0.8.4 or newer', () => {
    const [, major, minor, patch] =
      /^pgvector\/pgvector:(\d+)\.(\d+)\.(\d+)-pg17-bookworm@sha256:[\da-f]{64}$/.exec(
        services.postgres?.image ?? '',
      ) ?? []
    expect(Number(major) * 1_000_000 + Number(minor) * 1_000 + Number(patch)).toBeGreaterThanOrEqual(8_004)
    expect(services.redis?.image).toMatch(/^redis:[78]\.\d+\.\d+-alpine@sha256:[\da-f]{64}$/)
  })

  test('needs no settings', async () => {
    expect(interpolate(await readText('docker-compose.yml'), {})).not.toMatch(/\$\{/)
    expect(services.proxy?.env_file).toEqual([{ path: '.env', required: false }])
  })

  test('opens ports only on this machine, at addresses that can be changed', async () => {
    const ports = Object.values(services).flatMap(service => service.ports ?? [])
    expect(ports).toEqual(['127.0.0.1:5432:5432', '127.0.0.1:6379:6379', '127.0.0.1:3000:3000'])
    const moved = await readCompose({ POSTGRES_PORT: '54320', REDIS_PORT: '63790', PORT: '8080' })
    expect(Object.values(moved.services).flatMap(service => service.ports ?? [])).toEqual([
      '127.0.0.1:54320:5432',
      '127.0.0.1:63790:6379',
      '127.0.0.1:8080:3000',
    ])
    expect(moved.services.proxy?.environment?.PORT).toBe('3000')
  })

  test('creates passwords and the encryption key at the first start, and keeps them', async () => {
    const root = mkdtempSync(join(tmpdir(), 'compose-'))
    const folder = join(root, 'secrets')
    for (const name of ['secrets', 'postgres', 'redis', 'proxy']) mkdirSync(join(root, name))
    const make = async () => {
      const script =
        services.secrets?.command?.[0]?.replaceAll(/(?<= )(?=\/(?:secrets|postgres|redis|proxy)\b)/g, root) ?? ''
      expect(
        await Bun.spawn(['sh', '-ec', script], { env: { ...process.env, ...services.secrets?.environment } }).exited,
      ).toBe(0)
      const names = readdirSync(folder).sort()
      return Object.fromEntries(names.map(name => [name, readFileSync(join(folder, name), 'utf8')]))
    }
    const made = await make()
    expect(made.postgres_password).toMatch(/^[0-9a-f]{48}$/)
    expect(made.redis_password).toMatch(/^[0-9a-f]{48}$/)
    expect(made.redis_password).not.toBe(made.postgres_password)
    expect(await make()).toEqual(made)

    const environment = Object.entries(services.proxy?.environment ?? {}).map(([name, value]) => [
      name,
      (value ?? '').replace('/secrets', join(root, 'proxy')),
    ])
    expect(readConfig(Object.fromEntries(environment))).toMatchObject({
      host: '0.0.0.0',
      port: 3000,
      dataDir: '/data',
      databaseUrl: `postgres://model_proxy:${made.postgres_password}@postgres:5432/model_proxy`,
      redisUrl: `redis://:${made.redis_password}@redis:6379`,
      aggregator: { apiKey: null },
      encryptionKey: Buffer.from(made.encryption_key ?? '', 'base64'),
    })
    expect(Buffer.from(made.encryption_key ?? '', 'base64')).toHaveLength(32)
    // Each service has only the secrets that it needs.
    const own = (name: string) => readdirSync(join(root, name)).sort()
    expect(own('postgres')).toEqual(['postgres_password'])
    expect(own('redis')).toEqual(['redis_password'])
    expect(own('proxy')).toEqual(['database_url', 'encryption_key', 'redis_url'])
    for (const name of ['postgres', 'redis', 'proxy'])
      for (const secret of own(name)) expect(readFileSync(join(root, name, secret), 'utf8')).toBe(made[secret])
    rmSync(root, { recursive: true })
  })

  test('requires a password for every store, and bounds every service’s memory', () => {
    expect(services.postgres?.environment?.POSTGRES_PASSWORD_FILE).toBe('/secrets/postgres_password')
    expect(services.redis?.command?.join(' ')).toContain('requirepass')
    expect(services.redis?.healthcheck?.test.join(' ')).toContain('REDISCLI_AUTH')
    for (const name of ['postgres', 'redis', 'proxy']) {
      expect(services[name]?.mem_limit, name).toMatch(/^\d+[gm]$/)
      expect(services[name]?.volumes?.filter(volume => volume.includes('secrets'))).toEqual([
        `${name}-secrets:/secrets:ro`,
      ])
    }
  })

  test('keeps at most 250 MB of any log', () => {
    for (const [name, { logging }] of Object.entries(services))
      expect(logging, name).toEqual({ driver: 'json-file', options: { 'max-size': '50m', 'max-file': '5' } })
  })

  test('keeps persistent data in named volumes, and nothing of Redis', async () => {
    const { volumes } = await readCompose()
    const mounted = Object.values(services).flatMap(service => service.volumes ?? [])
    const names = new Set(mounted.map(mount => mount.split(':')[0]))
    expect([...names].sort()).toEqual(Object.keys(volumes).sort())
    expect(services.redis?.command?.join(' ')).toContain('--save "" --appendonly no')
  })
})

const SERVER = [process.execPath, fileURLToPath(new URL('src/process/server.ts', root))]

describe('Dockerfile', () => {
  let instructions: { name: string; value: string }[]

  beforeAll(async () => {
    const text = (await readText('Dockerfile')).replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '')
    instructions = text
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => ({ name: line.split(' ', 1)[0] ?? '', value: line.slice(line.indexOf(' ') + 1) }))
  })

  const all = (name: string) => instructions.filter(each => each.name === name).map(each => each.value)

  test('builds with the official image of the Bun version in package.json, and contains nothing of it', async () => {
    const version: string = JSON.parse(await readText('package.json')).devDependencies.bun
    const images = all('FROM').filter(value => value.includes(':'))
    expect(images).toEqual([
      `--platform=$BUILDPLATFORM oven/bun:${version}-slim AS build`,
      `oven/bun:${version}-slim AS base`,
    ])
    expect(all('FROM').filter(value => /^(scratch|program)\b/.test(value))).toEqual([
      'scratch AS program',
      'program AS sentence-model',
      'program',
    ])
  })

  test('installs what production needs, as locked', () => {
    expect(all('RUN')[0]).toBe('bun install --frozen-lockfile --production --ignore-scripts')
    expect(all('ADD')).toEqual([])
  })

  test('copies files that exist and that .dockerignore includes', async () => {
    const ignored = (await readText('.dockerignore')).split('\n').filter(line => line !== '' && !line.startsWith('#'))
    expect(ignored[0]).toBe('*')
    const allowed = ignored.slice(1).map(line => line.replace(/^!/, ''))
    const sources = all('COPY')
      .filter(value => !value.startsWith('--from='))
      .flatMap(value => value.split(' ').slice(0, -1))
    expect(sources).toEqual(expect.arrayContaining(['src', 'sql', 'vendor/all-minilm-l6-v2']))
    for (const source of sources) {
      expect(existsSync(fileURLToPath(new URL(source, root)))).toBe(true)
      expect(allowed).toContain(source)
    }
  })

  test('runs as an unprivileged user, with its address and a health check', () => {
    const program = instructions.slice(instructions.findIndex(each => each.value === 'scratch AS program') + 1)
    const names = program
      .slice(
        0,
        program.findIndex(each => each.name === 'FROM'),
      )
      .map(each => each.name)
    expect(names.filter(name => name !== 'COPY')).toEqual(['ENV', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'CMD'])
    expect(all('USER')).toEqual(['1000:1000'])
    expect(all('EXPOSE')).toEqual(['3000'])
    expect(JSON.parse(all('CMD')[0] ?? '')).toEqual(['model-proxy'])
  })

  test('has operators’ commands as one program, which compose calls by the same name', async () => {
    expect(all('COPY').filter(value => value.endsWith('/usr/local/bin/model-proxy /usr/local/bin/'))).toHaveLength(2)
    expect(all('ENV')[0]).toMatch(/^PATH=\/usr\/local\/bin .*\bOPERATOR_COMMAND=model-proxy$/)
    const { proxy } = (await readCompose()).services
    expect(proxy?.environment?.OPERATOR_COMMAND).toBe('docker compose exec proxy model-proxy')
    const asked = Bun.spawn([...SERVER, 'create-key', 'two words', '--tpye'], {
      env: { PATH: process.env.PATH, OPERATOR_COMMAND: 'docker compose exec proxy model-proxy' },
      stderr: 'pipe',
    })
    expect(await new Response(asked.stderr).text()).toMatch(/^usage: docker compose exec proxy model-proxy create-key /)
    const { scripts } = JSON.parse(await readText('package.json'))
    for (const name of ['create-project', 'create-key', 'create-admin'])
      expect(scripts[name]).toBe(`bun src/process/server.ts ${name}`)
  })

  test('has a health check that distinguishes healthy from unhealthy', async () => {
    const command: string[] = JSON.parse(/CMD (\[.*\])$/.exec(all('HEALTHCHECK')[0] ?? '')?.[1] ?? '')
    let status = 200
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: request => new Response('{}', { status: new URL(request.url).pathname === '/livez' ? status : 404 }),
    })
    const check = (port: number | undefined) =>
      Bun.spawn([...SERVER, ...command.slice(1)], {
        env: { PATH: process.env.PATH, PORT: String(port) },
        stdout: 'ignore',
        stderr: 'ignore',
      }).exited
    expect(await check(server.port)).toBe(0)
    status = 503
    expect(await check(server.port)).toBe(1)
    const { port } = server
    await server.stop(true)
    expect(await check(port)).toBe(1)
  })
})

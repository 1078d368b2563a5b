import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/config.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { writeTinyModel } from '../harness/tiny-model.ts'

test('an empty environment gives the documented defaults', () => {
  expect(readConfig({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    databaseUrl: null,
    redisUrl: null,
    dataDir: './data',
    embeddedPgPort: 5433,
    workers: 1,
    aggregator: { name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1', apiKey: null, speaks: 'chat' },
    embedder: { kind: 'builtin' },
    trustedProxies: 0,
    upstream: { connectTimeoutMs: 5000, firstByteTimeoutMs: 600_000, idleTimeoutMs: 300_000 },
    maxBodyBytes: 33_554_432,
  })
})

test('.env.example sets every default that it shows', async () => {
  const text = await Bun.file(new URL('../../.env.example', import.meta.url)).text()
  const shown = Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  expect(Object.keys(shown).length).toBeGreaterThan(20)
  expect(readConfig(shown)).toEqual(readConfig({}))
})

test.each([
  ['PORT', '70000', 'whole number from 0 to 65535'],
  ['PORT', 'abc', 'PORT=3000'],
  ['DATABASE_URL', 'mysql://x', 'postgres://'],
  ['DATABASE_URL', 'postgres://a:1,b:port/x', 'several'],
  ['DATABASE_URL', 'postgres://a/x?target_session_attrs=standby', 'postgres://'],
  ['DATABASE_MAX_CONNECTIONS', '0', 'whole number from 1 to 10000'],
  ['DATABASE_MAX_CONNECTIONS', 'many', 'DATABASE_MAX_CONNECTIONS=20'],
  ['REDIS_URL', 'redis://a,http://b', 'redis://'],
  ['WORKERS', '4', 'DATABASE_URL and REDIS_URL'],
  ['AGGREGATOR_BASE_URL', 'ftp://x', 'https://'],
  ['AGGREGATOR_NAME', 'Open Router', 'lowercase'],
  ['AGGREGATOR_SPEAKS', 'everything', 'chat, responses, messages, all'],
  ['EMBEDDER', 'magic', 'auto, api, local, builtin'],
  ['EMBEDDINGS_PATH', '/nowhere', 'tokenizer.json; it is not a folder'],
  ['ENCRYPTION_KEY', 'c2hvcnQ=', '32 bytes'],
  ['TRUST_PROXY', '-1', 'whole number'],
  ['DASHBOARD', 'yes', 'on, off, or a port'],
  ['DASHBOARD', '0', 'on, off, or a port'],
  ['MAX_BODY_BYTES', '1', '1024'],
  ['CORS_ORIGINS', 'app.example.com', 'list of origins'],
  ['CORS_ORIGINS', 'https://app.example.com/', 'list of origins'],
])('a bad %s says what it must be (%s)', (name, value, must) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError)
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`${name}.*${must.replace(/[/.]/g, '\\$&')}`))
})

test('all problems are told at once, and no value is repeated', () => {
  const read = () => readConfig({ PORT: 'p0rt-secret', EMBEDDER: 'emb-secret' })
  expect(read).toThrow(/PORT.*EMBEDDER/s)
  expect(read).not.toThrow(/secret/)
})

test('an embeddings key alone switches to the api embedder', () => {
  expect(readConfig({ EMBEDDINGS_API_KEY: 'k' }).embedder).toMatchObject({ kind: 'api', dimensions: 512 })
  expect(readConfig({ EMBEDDINGS_API_KEY: 'k', EMBEDDER: 'builtin' }).embedder).toEqual({ kind: 'builtin' })
  expect(() => readConfig({ EMBEDDER: 'api' })).toThrow('EMBEDDINGS_API_KEY')
})

test('a folder with a model is asked for by EMBEDDER=local, or by its name alone', async () => {
  const folder = temporaryFolder()
  expect(() => readConfig({ EMBEDDER: 'local', EMBEDDINGS_PATH: folder })).toThrow(
    /EMBEDDINGS_PATH must be .* it holds no \.onnx file\. Example: EMBEDDINGS_PATH=/,
  )
  const path = join(folder, 'tiny')
  await writeTinyModel(path, { words: [] })
  const local = { kind: 'local', path }
  expect(readConfig({ EMBEDDINGS_PATH: path }).embedder).toEqual(local)
  expect(readConfig({ EMBEDDINGS_PATH: path, EMBEDDER: 'local', EMBEDDINGS_API_KEY: 'k' }).embedder).toEqual(local)
  expect(readConfig({ EMBEDDINGS_PATH: path, EMBEDDINGS_API_KEY: 'k' }).embedder).toMatchObject({ kind: 'api' })
  expect(readConfig({ EMBEDDINGS_PATH: '/nowhere', EMBEDDER: 'builtin' }).embedder).toEqual({ kind: 'builtin' })
  expect(readConfig({ EMBEDDER: 'local' }).embedder).toEqual({
    kind: 'local',
    path: expect.stringMatching(/vendor.all-minilm-l6-v2$/),
  })
})

test('the dashboard is on, off, or on a port of its own', () => {
  expect(readConfig({}).dashboard).toBe('on')
  expect(readConfig({ DASHBOARD: 'off' }).dashboard).toBe('off')
  expect(readConfig({ DASHBOARD: '3100' }).dashboard).toBe(3100)
})

test('several workers need stores that can be shared', () => {
  const stores = { DATABASE_URL: 'postgres://127.0.0.1/x', REDIS_URL: 'redis://127.0.0.1:7000,redis://127.0.0.1:7001' }
  expect(readConfig({ ...stores, WORKERS: '4' }).workers).toBe(4)
  expect(readConfig({ ...stores, WORKERS: 'auto' }).workers).toBeGreaterThan(0)
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(1)
})

test('origins that browsers may call from: all, some, none', () => {
  expect(readConfig({}).corsOrigins).toBe('*')
  expect(readConfig({ CORS_ORIGINS: 'https://a.example, http://localhost:5173' }).corsOrigins).toEqual([
    'https://a.example',
    'http://localhost:5173',
  ])
  expect(readConfig({ CORS_ORIGINS: '' }).corsOrigins).toEqual([])
})

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../../src/config/config.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'
import { writeTinyModel } from '../../harness/tiny-model.ts'

test('an empty environment gives the documented defaults', () => {
  expect(readConfig({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    databaseUrl: null,
    redisUrl: null,
    dataDir: './data',
    embeddedPgPort: 5433,
    workers: 1,
    aggregator: {
      name: 'openrouter',
      baseUrl: 'https://openrouter.ai/api/v1',
      apiKey: null,
      isConfigured: false,
      speaks: 'chat',
    },
    embedder: { kind: 'builtin' },
    trustedProxies: 0,
    upstream: { connectTimeoutMs: 5000, firstByteTimeoutMs: 600_000, idleTimeoutMs: 300_000 },
    maxBodyBytes: 33_554_432,
  })
})

test('reads a mail server, with TLS unless it is turned off', () => {
  const read = (SMTP_URL: string, more = {}) => readConfig({ SMTP_URL, MAIL_FROM: 'proxy@example.com', ...more }).mail
  expect(readConfig({}).mail).toBeNull()
  expect(read('smtp://us%40er:p%3Aw@smtp.example.com')).toEqual({
    host: 'smtp.example.com',
    port: 587,
    tls: 'required',
    login: { user: 'us@er', password: 'p:w' },
    ca: null,
    from: 'proxy@example.com',
  })
  expect(read('smtps://[::1]')).toMatchObject({ host: '::1', port: 465, tls: 'implicit', login: null })
  expect(read('smtp://127.0.0.1:2525', { SMTP_TLS: 'off' })).toMatchObject({ port: 2525, tls: 'optional' })
  const withSender = (MAIL_FROM: string) => readConfig({ SMTP_URL: 'smtp://localhost', MAIL_FROM })
  for (const bad of ['', 'proxy', 'a@b\nBcc: c@d', '"x" <a@b>, c@d'])
    expect(() => withSender(bad)).toThrow(/MAIL_FROM must be an e-mail address/)
  expect(withSender('Model Proxy <proxy@example.com>').mail?.from).toBe('Model Proxy <proxy@example.com>')
})

test('requires a hook secret of sufficient length', () => {
  const withSecret = (HOOK_SECRET: string) => readConfig({ HOOK_URL: 'http://127.0.0.1:8700/', HOOK_SECRET })
  for (const bad of ['', 'c2hvcnQ=', 'no base64, for all its length: it has blanks'])
    expect(() => withSecret(bad)).toThrow(/HOOK_SECRET must be 24 bytes or more in base64/)
  expect(withSecret(`whsec_${'a'.repeat(43)}=`).hook).toMatchObject({
    url: 'http://127.0.0.1:8700',
    onFailure: 'closed',
    streams: 'hold',
  })
})

test('.env.example sets every default that it shows', async () => {
  const text = await Bun.file(new URL('../../../.env.example', import.meta.url)).text()
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
  ['DATABASE_STANDBY_URL', 'mysql://x', 'postgres://'],
  ['DATABASE_STANDBY_URL', 'postgres://a,b/x', 'DATABASE_URL'],
  ['DATABASE_SCHEMA', 'pg_mine', 'not begin with a digit or pg_'],
  ['DATABASE_SCHEMA', 'Model-Proxy', 'DATABASE_SCHEMA=model_proxy'],
  ['DATABASE_PREPARED', 'maybe', 'one of on, off'],
  ['DATABASE_MAX_CONNECTIONS', '0', 'whole number from 1 to 10000'],
  ['DATABASE_MAX_CONNECTIONS', 'many', 'DATABASE_MAX_CONNECTIONS=20'],
  ['REDIS_URL', 'redis://a,http://b', 'redis://'],
  ['REDIS_URL', 'redis+sentinel://a:26379', 'the name of their master'],
  ['REDIS_URL', 'redis+sentinel://a:x/mymaster', 'Sentinels'],
  ['REDIS_CA_FILE', '/nowhere', 'a file that this user can read'],
  ['DATABASE_URL_FILE', '/nowhere', 'a file that this user can read'],
  ['WORKERS', '4', 'DATABASE_URL and REDIS_URL'],
  ['AGGREGATOR_BASE_URL', 'ftp://x', 'https://'],
  ['AGGREGATOR_NAME', 'Open Router', 'lowercase'],
  ['AGGREGATOR_SPEAKS', 'everything', 'chat, responses, messages, all'],
  ['EMBEDDER', 'magic', 'auto, api, local, builtin'],
  ['EMBEDDINGS_PATH', '/nowhere', 'tokenizer.json; it is not a folder'],
  ['ENCRYPTION_KEY', 'c2hvcnQ=', '32 bytes'],
  ['TRUST_PROXY', '-1', 'whole number'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'http://'],
  ['HOOK_URL', 'hook:8700', 'http://'],
  ['HOOK_SECRET', 'c2hvcnQ=', 'is. Example: HOOK_URL='],
  ['PUBLIC_URL', 'proxy.example.com', 'https://'],
  ['SMTP_URL', 'smtp.example.com:587', 'smtp://'],
  ['SMTP_URL', 'smtp://smtp.example.com/inbox', 'no path'],
  ['SMTP_TLS', 'maybe', 'one of on, off'],
  ['MAIL_FROM', 'proxy@example.com', 'is. Example: SMTP_URL='],
  ['DASHBOARD', 'yes', 'on, off, or a port'],
  ['DASHBOARD', '0', 'on, off, or a port'],
  ['MAX_BODY_BYTES', '1', '1024'],
  ['CORS_ORIGINS', 'app.example.com', 'list of origins'],
  ['CORS_ORIGINS', 'https://app.example.com/', 'list of origins'],
])('rejects a bad %s with what it must be (%s)', (name, value, must) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError)
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`${name}.*${must.replace(/[/.]/g, '\\$&')}`))
})

test('reports all problems at once, and repeats no value', () => {
  const read = () => readConfig({ PORT: 'p0rt-secret', EMBEDDER: 'emb-secret' })
  expect(read).toThrow(/PORT.*EMBEDDER/s)
  expect(read).not.toThrow(/secret/)
})

test('an embeddings key alone selects the api embedder', () => {
  expect(readConfig({ EMBEDDINGS_API_KEY: 'k' }).embedder).toMatchObject({ kind: 'api', dimensions: 512 })
  expect(readConfig({ EMBEDDINGS_API_KEY: 'k', EMBEDDER: 'builtin' }).embedder).toEqual({ kind: 'builtin' })
  expect(() => readConfig({ EMBEDDER: 'api' })).toThrow('EMBEDDINGS_API_KEY')
})

test('a model directory is used with EMBEDDER=local or by its path alone', async () => {
  const folder = createTemporaryDirectory()
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

test('the dashboard is on, off, or on its own port', () => {
  expect(readConfig({}).dashboard).toBe('on')
  expect(readConfig({ DASHBOARD: 'off' }).dashboard).toBe('off')
  expect(readConfig({ DASHBOARD: '3100' }).dashboard).toBe(3100)
})

test('several workers need shared stores', () => {
  const stores = { DATABASE_URL: 'postgres://127.0.0.1/x', REDIS_URL: 'redis://127.0.0.1:7000,redis://127.0.0.1:7001' }
  expect(readConfig({ ...stores, WORKERS: '4' }).workers).toBe(4)
  expect(readConfig({ ...stores, WORKERS: 'auto' }).workers).toBeGreaterThan(0)
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(1)
})

test('allows all, some or no browser origins', () => {
  expect(readConfig({}).corsOrigins).toBe('*')
  expect(readConfig({ CORS_ORIGINS: 'https://a.example, http://localhost:5173' }).corsOrigins).toEqual([
    'https://a.example',
    'http://localhost:5173',
  ])
  expect(readConfig({ CORS_ORIGINS: '' }).corsOrigins).toEqual([])
})

test('reads each setting from a file, but not from two places', async () => {
  const folder = await createTemporaryDirectory()
  const at = (name: string) => join(folder, name)
  const key = Buffer.alloc(32, 7).toString('base64')
  await Bun.write(at('url'), 'postgres://u:p@db/x\n')
  await Bun.write(at('key'), key)
  await Bun.write(at('empty'), '\n')
  const config = readConfig({
    DATABASE_URL_FILE: at('url'),
    DATABASE_STANDBY_URL_FILE: at('url'),
    ENCRYPTION_KEY_FILE: at('key'),
  })
  expect(config).toMatchObject({
    databaseUrl: 'postgres://u:p@db/x',
    databaseStandbyUrl: 'postgres://u:p@db/x',
    encryptionKey: Buffer.from(key, 'base64'),
  })
  expect(() => readConfig({ ENCRYPTION_KEY: key, ENCRYPTION_KEY_FILE: at('key') })).toThrow('both are set')
  expect(() => readConfig({ AGGREGATOR_API_KEY_FILE: at('empty') })).toThrow('AGGREGATOR_API_KEY_FILE must be')
})

test('TLS files for Redis belong together, and need an address with TLS', async () => {
  const folder = await createTemporaryDirectory()
  const file = join(folder, 'pem')
  await Bun.write(file, 'PEM')
  const set = (...names: string[]) => Object.fromEntries(names.map(name => [name, file]))
  const url = { REDIS_URL: 'rediss://127.0.0.1:6379' }
  expect(readConfig({ ...url, ...set('REDIS_CA_FILE') }).redisTls).toEqual({ ca: 'PEM' })
  const all = set('REDIS_CA_FILE', 'REDIS_CERT_FILE', 'REDIS_KEY_FILE')
  expect(readConfig({ ...url, ...all }).redisTls).toEqual({ ca: 'PEM', cert: 'PEM', key: 'PEM' })
  expect(() => readConfig({ ...url, ...set('REDIS_CERT_FILE') })).toThrow('REDIS_KEY_FILE must be set')
  expect(() => readConfig({ REDIS_URL: 'redis://127.0.0.1:6379', ...all })).toThrow('begins with rediss://')
})

test.each([
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-without-a-name', 'name=value pairs'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=%zz', 'name=value pairs'],
  ['OTEL_TRACES_SAMPLER', 'sometimes', 'one of parentbased_always_on'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'a share from 0 to 1'],
])('with a collector, rejects a bad %s with what it must be (%s), without its value', (name, value, must) => {
  const read = () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', [name]: value })
  expect(read).toThrow(new RegExp(`${name}.*${must}`))
  expect(read).not.toThrow(value)
})

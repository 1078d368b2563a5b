/** The only reader of the environment: every setting, its default, and what is wrong with a bad one. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { findFault } from './embedders/local/model-folder.ts'
import { parseDatabaseUrl } from './postgres/address.ts'

export interface Config {
  port: number
  host: string
  /** Null: the embedded database. */
  databaseUrl: string | null
  /** Over all workers of this machine; null: a share of what the server gives. */
  databaseMaxConnections: number | null
  /** Null: the in-process store. */
  redisUrl: string | null
  dataDir: string
  /** Loopback port on which psql reaches the embedded database. */
  embeddedPgPort: number
  workers: number
  aggregator: { name: string; baseUrl: string; apiKey: string | null; speaks: (typeof SPEECHES)[number] }
  direct: Record<DirectProvider, { baseUrl: string }>
  embedder: EmbedderConfig
  /** 32 bytes that seal provider keys; null: made in `dataDir` at first need, where the database is embedded. */
  encryptionKey: Uint8Array | null
  /** Opens what was sealed before `encryptionKey` was rotated. */
  encryptionKeyPrevious: Uint8Array | null
  /** Reverse proxies in front whose word on the client's address counts. */
  trustedProxies: number
  upstream: {
    connectTimeoutMs: number
    firstByteTimeoutMs: number
    idleTimeoutMs: number
    /** Of a stream, from one blank line to the next. */
    maxEventBytes: number
    /** Of an answer that is no stream. */
    maxAnswerBytes: number
    /** Before the first byte alone. */
    maxRetries: number
    /** Failures in a row that open a provider's circuit for a key. */
    circuitFailures: number
    /** How long it stays open at first. */
    circuitOpenMs: number
  }
  /** Origins whose pages may call from a browser; empty: none. */
  corsOrigins: '*' | readonly string[]
  maxBodyBytes: number
  /** From a request's headers to the last byte of its body. */
  bodyTimeoutMs: number
  /** Who may vouch for users of the dashboard beside their passwords; null: nobody. */
  oidc: { issuer: string; clientId: string; clientSecret: string | null } | null
  /** Where pages and admin API are served: beside the proxy, on a port of their own, or not at all. */
  dashboard: 'on' | 'off' | number
  logLevel: LogLevel
  /** How long a shutdown waits for requests that are under way. */
  shutdownTimeoutMs: number
}

const SPEECHES = ['chat', 'responses', 'messages', 'all'] as const
export type DirectProvider = 'openai' | 'anthropic' | 'groq'
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type EmbedderConfig =
  | { kind: 'builtin' }
  | { kind: 'api'; baseUrl: string; apiKey: string; model: string; dimensions: number }
  | { kind: 'local'; path: string }

/** The model that comes with the proxy. */
export const OWN_MODEL = fileURLToPath(new URL('../vendor/all-minilm-l6-v2', import.meta.url))

type Environment = Record<string, string | undefined>

/** What is wrong with the environment, one line a variable. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Cannot start:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

/** Throws ConfigError with every problem at once; each line names the variable, what it must be, and an example. */
export function readConfig(environment: Environment = process.env): Config {
  const problems: string[] = []
  const read = readersOf(environment, problems)

  const databaseUrl = read.databaseUrl('DATABASE_URL')
  const redisUrl = read.redisUrl('REDIS_URL')
  const config: Config = {
    port: read.integer('PORT', 3000, 0, 65_535),
    host: read.text('HOST', '127.0.0.1'),
    databaseUrl,
    databaseMaxConnections: null,
    redisUrl,
    dataDir: read.text('DATA_DIR', './data'),
    embeddedPgPort: read.integer('EMBEDDED_PG_PORT', 5433, 0, 65_535),
    workers: read.workers('WORKERS', databaseUrl !== null && redisUrl !== null),
    aggregator: {
      name: read.name('AGGREGATOR_NAME', 'openrouter'),
      baseUrl: read.baseUrl('AGGREGATOR_BASE_URL', 'https://openrouter.ai/api/v1'),
      apiKey: read.optionalText('AGGREGATOR_API_KEY'),
      speaks: read.choice('AGGREGATOR_SPEAKS', 'chat', SPEECHES),
    },
    direct: {
      openai: { baseUrl: read.baseUrl('OPENAI_BASE_URL', 'https://api.openai.com/v1') },
      anthropic: { baseUrl: read.baseUrl('ANTHROPIC_BASE_URL', 'https://api.anthropic.com') },
      groq: { baseUrl: read.baseUrl('GROQ_BASE_URL', 'https://api.groq.com/openai/v1') },
    },
    embedder: readEmbedder(read, problems),
    encryptionKey: read.key('ENCRYPTION_KEY'),
    encryptionKeyPrevious: read.key('ENCRYPTION_KEY_PREVIOUS'),
    trustedProxies: read.integer('TRUST_PROXY', 0, 0, 10),
    upstream: {
      connectTimeoutMs: read.integer('UPSTREAM_CONNECT_TIMEOUT_MS', 5_000, 1, 600_000),
      firstByteTimeoutMs: read.integer('UPSTREAM_FIRST_BYTE_TIMEOUT_MS', 600_000, 1, 3_600_000),
      idleTimeoutMs: read.integer('UPSTREAM_IDLE_TIMEOUT_MS', 300_000, 1, 3_600_000),
      maxEventBytes: read.integer('UPSTREAM_MAX_EVENT_BYTES', 16_777_216, 1_024, 1_073_741_824),
      maxAnswerBytes: read.integer('UPSTREAM_MAX_ANSWER_BYTES', 67_108_864, 1_024, 1_073_741_824),
      maxRetries: read.integer('UPSTREAM_MAX_RETRIES', 2, 0, 10),
      circuitFailures: read.integer('UPSTREAM_CIRCUIT_FAILURES', 10, 1, 1_000_000),
      circuitOpenMs: read.integer('UPSTREAM_CIRCUIT_OPEN_MS', 5_000, 1, 60_000),
    },
    corsOrigins: read.origins('CORS_ORIGINS'),
    maxBodyBytes: read.integer('MAX_BODY_BYTES', 33_554_432, 1_024, 1_073_741_824),
    bodyTimeoutMs: read.integer('BODY_TIMEOUT_MS', 30_000, 1, 3_600_000),
    oidc: readOidc(read, problems),
    dashboard: read.switchOrPort('DASHBOARD', 'on'),
    logLevel: read.choice('LOG_LEVEL', 'info', ['debug', 'info', 'warn', 'error', 'silent']),
    shutdownTimeoutMs: read.integer('SHUTDOWN_TIMEOUT_MS', 30_000, 0, 3_600_000),
  }
  // One each at least.
  config.databaseMaxConnections = read.optionalInteger('DATABASE_MAX_CONNECTIONS', config.workers, 10_000, 20)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function readEmbedder(read: Readers, problems: string[]): EmbedderConfig {
  const choice = read.choice('EMBEDDER', 'auto', ['auto', 'api', 'local', 'builtin'])
  const apiKey = read.optionalText('EMBEDDINGS_API_KEY')
  const api = {
    baseUrl: read.baseUrl('EMBEDDINGS_BASE_URL', 'https://api.openai.com/v1'),
    model: read.text('EMBEDDINGS_MODEL', 'text-embedding-3-small'),
    dimensions: read.integer('EMBEDDINGS_DIMENSIONS', 512, 1, 4_000),
  }
  if (choice === 'api' && apiKey === null) {
    problems.push('EMBEDDINGS_API_KEY must be set when EMBEDDER=api. Example: EMBEDDINGS_API_KEY=sk-...')
  }
  if (apiKey !== null && (choice === 'auto' || choice === 'api')) return { kind: 'api', apiKey, ...api }
  const named = read.optionalText('EMBEDDINGS_PATH')
  const isLocal = choice === 'local' || (choice === 'auto' && named !== null)
  return isLocal ? readLocal(named, problems) : { kind: 'builtin' }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

function readOidc(read: Readers, problems: string[]): Config['oidc'] {
  const issuer = read.url('OIDC_ISSUER', null, ['https:', 'http:'], 'https://accounts.example.com')
  const clientId = read.optionalText('OIDC_CLIENT_ID')
  const clientSecret = read.optionalText('OIDC_CLIENT_SECRET')
  if (issuer === null) return null
  const { protocol, hostname } = new URL(issuer)
  if (protocol === 'http:' && !LOOPBACK.test(hostname)) {
    problems.push(
      'OIDC_ISSUER must begin with https://, unless it is on this machine. Example: OIDC_ISSUER=https://accounts.example.com',
    )
  }
  if (clientId === null) {
    problems.push('OIDC_CLIENT_ID must be set where OIDC_ISSUER is. Example: OIDC_CLIENT_ID=model-proxy')
    return null
  }
  return { issuer, clientId, clientSecret }
}

/** Of the folder that is named; else of the proxy's own. */
function readLocal(named: string | null, problems: string[]): EmbedderConfig {
  const path = named ?? OWN_MODEL
  const fault = findFault(path)
  if (fault !== null) {
    problems.push(
      named === null
        ? `EMBEDDINGS_PATH must be set when EMBEDDER=local, as the proxy's own model is not there; \`bun run embedder:install\` brings it. Example: EMBEDDINGS_PATH=./models/bge-small-en-v1.5`
        : `EMBEDDINGS_PATH must be a folder with an ONNX model (model.onnx) and its tokenizer.json; it ${fault}. Example: EMBEDDINGS_PATH=./models/bge-small-en-v1.5`,
    )
  }
  return { kind: 'local', path }
}

type Readers = ReturnType<typeof readersOf>

/** Readers that note a problem and go on, so that one start tells of all of them. */
function readersOf(environment: Environment, problems: string[]) {
  const optionalText = (name: string): string | null => {
    const value = environment[name]?.trim()
    return value ? value : null
  }
  const text = (name: string, fallback: string): string => optionalText(name) ?? fallback
  const problem = (name: string, must: string, example: string | number): void => {
    problems.push(`${name} must be ${must}. Example: ${name}=${example}`)
  }

  function integer(name: string, fallback: number, least: number, most: number): number {
    const value = optionalText(name)
    if (value === null) return fallback
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return number
    problem(name, `a whole number from ${least} to ${most}`, fallback)
    return fallback
  }

  function optionalInteger(name: string, least: number, most: number, example: number): number | null {
    if (optionalText(name) === null) return null
    const before = problems.length
    const number = integer(name, Math.max(least, example), least, most)
    return problems.length > before ? null : number
  }

  function url(name: string, fallback: string | null, protocols: readonly string[], example: string): string | null {
    const value = optionalText(name)
    if (value === null) return fallback
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value
    problem(name, `an address that begins with ${protocols.map(protocol => `${protocol}//`).join(' or ')}`, example)
    return fallback
  }

  return {
    text,
    optionalText,
    integer,
    optionalInteger,
    url,
    baseUrl: (name: string, fallback: string): string =>
      (url(name, fallback, ['http:', 'https:'], fallback) ?? fallback).replace(/\/+$/, ''),
    databaseUrl(name: string): string | null {
      const value = optionalText(name)
      if (value === null || parseDatabaseUrl(value) !== null) return value
      const must =
        'an address that begins with postgres:// or postgresql://, of one host or several, separated by commas'
      problem(name, must, 'postgres://user:password@127.0.0.1:5432/model_proxy')
      return null
    },
    redisUrl(name: string): string | null {
      const value = optionalText(name)
      if (value === null) return null
      const nodes = value.split(',').map(node => node.trim())
      if (nodes.every(node => URL.canParse(node) && ['redis:', 'rediss:'].includes(new URL(node).protocol)))
        return value
      problem(
        name,
        'one redis:// or rediss:// address, or a comma-separated list of cluster nodes',
        'redis://127.0.0.1:6379',
      )
      return null
    },
    origins(name: string): '*' | readonly string[] {
      // Set and empty says something else than not set.
      const given = (environment[name] ?? '*').split(',').map(origin => origin.trim())
      const origins = given.filter(origin => origin !== '')
      if (origins.length === 1 && origins[0] === '*') return '*'
      if (origins.every(origin => URL.canParse(origin) && new URL(origin).origin === origin)) return origins
      problem(name, '*, or a comma-separated list of origins, or empty', 'https://app.example.com')
      return []
    },
    workers(name: string, canShare: boolean): number {
      const value = optionalText(name)
      if (value === 'auto') return canShare ? availableParallelism() : 1
      const count = integer(name, 1, 1, 256)
      if (count > 1 && !canShare) {
        problem(name, '1 unless DATABASE_URL and REDIS_URL are set: embedded stores live in one process', 1)
      }
      return count
    },
    name(name: string, fallback: string): string {
      const value = text(name, fallback)
      if (/^[a-z0-9][a-z0-9._-]{0,62}$/.test(value)) return value
      problem(name, 'lowercase letters, digits, dots, dashes or underscores', fallback)
      return fallback
    },
    choice<T extends string>(name: string, fallback: T, choices: readonly T[]): T {
      const value = text(name, fallback)
      const chosen = choices.find(choice => choice === value)
      if (chosen !== undefined) return chosen
      problem(name, `one of ${choices.join(', ')}`, fallback)
      return fallback
    },
    switchOrPort(name: string, fallback: 'on' | 'off'): 'on' | 'off' | number {
      const value = text(name, fallback)
      if (value === 'on' || value === 'off') return value
      const port = Number(value)
      if (/^\d+$/.test(value) && port >= 1 && port <= 65_535) return port
      problem(name, 'on, off, or a port from 1 to 65535', fallback)
      return fallback
    },
    key(name: string): Uint8Array | null {
      const value = optionalText(name)
      if (value === null) return null
      const bytes = Buffer.from(value, 'base64')
      if (/^[A-Za-z0-9+/]+={0,2}$/.test(value) && bytes.length === 32) return bytes
      problem(name, '32 bytes in base64, as `openssl rand -base64 32` prints', '<44 characters>')
      return null
    },
  }
}

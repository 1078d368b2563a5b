/** Every setting, its default, and what is wrong with a bad one. */

import type { RedisTlsOptions } from '../stores/redis/redis-url.ts'
import { type AggregatorConfig, readAggregatorConfig } from './aggregator.ts'
import { type EmbedderConfig, readEmbedderConfig } from './embedder.ts'
import { type HookConfig, readHookConfig } from './hook.ts'
import { type OidcConfig, readOidcConfig } from './oidc.ts'
import { processEnvironment } from './process-environment.ts'
import { createSettingsReader } from './settings-reader.ts'
import { readTracingConfig, type TracingConfig } from './tracing.ts'
import { readUpstreamConfig, type UpstreamConfig } from './upstream.ts'
import type { Environment } from './value-readers.ts'
import { baseUrlVariableOf, type DirectProvider, mapVendors } from './vendors.ts'

export type { EmbedderConfig } from './embedder.ts'
export type { OidcConfig } from './oidc.ts'
export { processEnvironment } from './process-environment.ts'
export type { DirectProvider } from './vendors.ts'

export interface Config {
  port: number
  host: string
  /** Null for the embedded database. */
  databaseUrl: string | null
  /** The schema in which everything of the proxy lives. */
  databaseSchema: string
  /** Of standbys, for operators' reads that may miss the last seconds; null for none. */
  databaseStandbyUrl: string | null
  /** Whether statements are prepared by name; not behind a pooler that does not carry them. */
  databasePrepared: boolean
  /** Total over all workers of this machine; null for a share of the server's connections. */
  databaseMaxConnections: number | null
  /** Null for the in-process store. */
  redisUrl: string | null
  /** For addresses of Redis that ask for TLS; null for the system's own authorities, and no certificate. */
  redisTls: RedisTlsOptions | null
  dataDir: string
  /** Loopback port where psql reaches the embedded database. */
  embeddedPgPort: number
  workers: number
  aggregator: AggregatorConfig
  direct: Readonly<Record<DirectProvider, { baseUrl: string }>>
  embedder: EmbedderConfig
  /** 32 bytes that encrypt provider keys. Null with the embedded database: the key is then created in `dataDir` at first use. */
  encryptionKey: Uint8Array | null
  /** Decrypts what other processes encrypt with the key that is to replace `encryptionKey`. */
  encryptionKeyNext: Uint8Array | null
  /** Decrypts what was encrypted before `encryptionKey` was rotated. */
  encryptionKeyPrevious: Uint8Array | null
  /** Number of reverse proxies in front whose client address is trusted. */
  trustedProxies: number
  upstream: UpstreamConfig
  /** Origins whose pages may call the proxy from a browser; empty for none. */
  corsOrigins: '*' | readonly string[]
  maxBodyBytes: number
  /** The memory of what clients have not read yet of their streams. */
  maxUnreadBytes: number
  /** From the end of a request's headers to the last byte of its body. */
  bodyTimeoutMs: number
  /** The provider for single sign-on to the dashboard, beside passwords; null for none. */
  oidc: OidcConfig | null
  /** Where clients reach the proxy, without /v1; null: where the request was sent to. */
  publicUrl: string | null
  /** Where pages and admin API are served: on the proxy's port, on a port of their own, or not at all. */
  dashboard: 'on' | 'off' | number
  /** Whether webhooks may lead into private networks, and be http. */
  allowsPrivateWebhooks: boolean
  /** Null: nothing is asked before or after. */
  hook: HookConfig | null
  /** `port` is 0 for none; `token` is what a scraper must send, if anything. */
  metrics: { port: number; token: string | null }
  /** Null: no spans are made. */
  tracing: TracingConfig | null
  logLevel: LogLevel
  /** How long requests are still taken after SIGTERM, for load balancers to notice. */
  shutdownDelayMs: number
  /** How long a shutdown waits for requests in flight. */
  shutdownTimeoutMs: number
}

export const DEFAULT_METRICS_PORT = 9464
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const STANDBY_ALONE = 'DATABASE_STANDBY_URL must be set beside DATABASE_URL, the address of the primary'

/** What is wrong with the environment, one line per variable. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Cannot start:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

/** Throws ConfigError with every problem at once; each line names the variable, what it must be, and an example. */
export function readConfig(environment: Environment = processEnvironment): Config {
  const problems: string[] = []
  const read = createSettingsReader(environment, problems)

  const dataDir = read.text('DATA_DIR', './data')
  const embeddedPgPort = read.integer('EMBEDDED_PG_PORT', 5433, 0, 65_535)
  const databaseUrl = read.databaseUrl('DATABASE_URL', { dataDir, port: embeddedPgPort })
  const redisUrl = read.redisUrl('REDIS_URL')
  const config: Config = {
    port: read.integer('PORT', 3000, 0, 65_535),
    host: read.text('HOST', '127.0.0.1'),
    databaseUrl,
    databaseSchema: read.schema('DATABASE_SCHEMA', 'model_proxy'),
    databaseStandbyUrl: read.databaseUrl('DATABASE_STANDBY_URL'),
    databasePrepared: read.choice('DATABASE_PREPARED', 'on', ['on', 'off']) === 'on',
    databaseMaxConnections: null,
    redisUrl,
    redisTls: read.redisTls(redisUrl),
    dataDir,
    embeddedPgPort,
    workers: read.workers('WORKERS', databaseUrl !== null && redisUrl !== null),
    aggregator: readAggregatorConfig(read),
    direct: mapVendors(({ name, base_url }) => ({ baseUrl: read.baseUrl(baseUrlVariableOf(name), base_url) })),
    embedder: readEmbedderConfig(read, problems),
    encryptionKey: read.key('ENCRYPTION_KEY'),
    encryptionKeyNext: read.key('ENCRYPTION_KEY_NEXT'),
    encryptionKeyPrevious: read.key('ENCRYPTION_KEY_PREVIOUS'),
    trustedProxies: read.integer('TRUST_PROXY', 0, 0, 10),
    upstream: readUpstreamConfig(read),
    corsOrigins: read.origins('CORS_ORIGINS'),
    maxBodyBytes: read.integer('MAX_BODY_BYTES', 33_554_432, 1_024, 1_073_741_824),
    maxUnreadBytes: read.integer('MAX_UNREAD_BYTES', 83_886_080, 1_048_576, 1_099_511_627_776),
    bodyTimeoutMs: read.integer('BODY_TIMEOUT_MS', 30_000, 1, 3_600_000),
    oidc: readOidcConfig(read, problems),
    publicUrl: read.publicUrl('PUBLIC_URL'),
    dashboard: read.switchOrPort('DASHBOARD', 'on'),
    allowsPrivateWebhooks: read.choice('WEBHOOK_PRIVATE_NETWORKS', 'off', ['on', 'off']) === 'on',
    hook: readHookConfig(read),
    metrics: {
      port: read.integer('METRICS_PORT', DEFAULT_METRICS_PORT, 0, 65_535),
      token: read.optionalText('METRICS_TOKEN'),
    },
    tracing: readTracingConfig(read),
    logLevel: read.choice('LOG_LEVEL', 'info', ['debug', 'info', 'warn', 'error', 'silent']),
    shutdownDelayMs: read.integer('SHUTDOWN_DELAY_MS', 0, 0, 3_600_000),
    shutdownTimeoutMs: read.integer('SHUTDOWN_TIMEOUT_MS', 30_000, 0, 3_600_000),
  }
  // Each worker needs at least one.
  config.databaseMaxConnections = read.optionalInteger('DATABASE_MAX_CONNECTIONS', config.workers, 10_000, 20)
  if (config.databaseStandbyUrl && !databaseUrl) problems.push(STANDBY_ALONE)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

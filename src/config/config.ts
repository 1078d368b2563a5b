/** Reads all settings with their defaults, and validates them. */

import type { RedisTlsOptions } from '../stores/redis/redis-url.ts'
import { type AggregatorConfig, readAggregatorConfig } from './aggregator.ts'
import { type EmbedderConfig, readEmbedderConfig } from './embedder.ts'
import { type HookConfig, readHookConfig } from './hook.ts'
import { type MailConfig, readMailConfig } from './mail.ts'
import { type OidcConfig, readOidcConfig } from './oidc.ts'
import { processEnvironment } from './process-environment.ts'
import { createSettingsReader } from './settings-reader.ts'
import { readTracingConfig, type TracingConfig } from './tracing.ts'
import { readUpstreamConfig, type UpstreamConfig } from './upstream.ts'
import type { Environment } from './value-readers.ts'
import { readVendorSettings, type VendorSettingsByPrefix } from './vendor-settings.ts'

export type { EmbedderConfig } from './embedder.ts'
export type { OidcConfig } from './oidc.ts'
export { processEnvironment } from './process-environment.ts'

export interface Config {
  port: number
  host: string
  /** The database's address; null for the embedded database. */
  databaseUrl: string | null
  /** The database schema that contains the proxy's tables and functions. */
  databaseSchema: string
  /** The address of standbys, for operators' reads that may miss the last seconds; null for none. */
  databaseStandbyUrl: string | null
  /** Whether statements are prepared by name. Turn it off behind a pooler that does not support named prepared statements. */
  databasePrepared: boolean
  /** The total over all workers of this machine; null for a share of the server's connections. */
  databaseMaxConnections: number | null
  /** The address of Redis; null for the in-process store. */
  redisUrl: string | null
  /** TLS options for a rediss:// address; null for the system's authorities and no client certificate. */
  redisTls: RedisTlsOptions | null
  dataDir: string
  /** The loopback port at which psql reaches the embedded database. */
  embeddedPgPort: number
  workers: number
  aggregator: AggregatorConfig
  vendors: VendorSettingsByPrefix
  embedder: EmbedderConfig
  /** 32 bytes that encrypt provider keys; null when not set. With the embedded database, the key is then created in `dataDir` at first use. */
  encryptionKey: Uint8Array | null
  /** The key that will replace `encryptionKey`. It decrypts secrets that other processes have already encrypted with it. */
  encryptionKeyNext: Uint8Array | null
  /** The key before the last rotation. It decrypts secrets that were encrypted with it. */
  encryptionKeyPrevious: Uint8Array | null
  /** The number of reverse proxies in front of the proxy, whose `X-Forwarded-For` entries are trusted. */
  trustedProxies: number
  upstream: UpstreamConfig
  /** Origins whose pages may call the proxy from a browser; empty for none. */
  corsOrigins: '*' | readonly string[]
  maxBodyBytes: number
  /** The upper bound on the memory for stream data that clients have not read yet. */
  maxUnreadBytes: number
  /** The time limit from the end of a request's headers to the last byte of its body. */
  bodyTimeoutMs: number
  /** The provider for single sign-on to the dashboard, besides passwords; null for none. */
  oidc: OidcConfig | null
  /** The address at which clients reach the proxy, without /v1; null for the address to which each request was sent. */
  publicUrl: string | null
  /** Where the dashboard and the admin API are served: on the proxy's port, on a separate port, or not at all. */
  dashboard: 'on' | 'off' | number
  /** Whether webhooks may be in private networks and use http. */
  allowsPrivateWebhooks: boolean
  /** The mail server; null when no mail is sent. */
  mail: MailConfig | null
  /** The hook's settings; null when no hook is called. */
  hook: HookConfig | null
  /** `port` is 0 when metrics are off. `token` is the bearer token that a scraper must send; null for none. */
  metrics: { port: number; token: string | null }
  /** The tracing settings; null when no spans are created. */
  tracing: TracingConfig | null
  logLevel: LogLevel
  /** How long requests are still accepted after SIGTERM, so that load balancers notice the shutdown. */
  shutdownDelayMs: number
  /** How long a shutdown waits for requests in flight. */
  shutdownTimeoutMs: number
}

export const DEFAULT_METRICS_PORT = 9464
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const STANDBY_WITHOUT_PRIMARY = 'DATABASE_STANDBY_URL must be set beside DATABASE_URL, the address of the primary'

/** The invalid environment variables, one line each. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Cannot start:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

/** Throws a ConfigError with all problems. Each line names the variable, the values that it accepts, and an example. */
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
    vendors: readVendorSettings(read, environment),
    embedder: readEmbedderConfig(read),
    encryptionKey: read.key('ENCRYPTION_KEY'),
    encryptionKeyNext: read.key('ENCRYPTION_KEY_NEXT'),
    encryptionKeyPrevious: read.key('ENCRYPTION_KEY_PREVIOUS'),
    trustedProxies: read.integer('TRUST_PROXY', 0, 0, 10),
    upstream: readUpstreamConfig(read),
    corsOrigins: read.origins('CORS_ORIGINS'),
    maxBodyBytes: read.integer('MAX_BODY_BYTES', 33_554_432, 1_024, 1_073_741_824),
    maxUnreadBytes: read.integer('MAX_UNREAD_BYTES', 83_886_080, 1_048_576, 1_099_511_627_776),
    bodyTimeoutMs: read.integer('BODY_TIMEOUT_MS', 30_000, 1, 3_600_000),
    oidc: readOidcConfig(read),
    publicUrl: read.publicUrl('PUBLIC_URL'),
    dashboard: read.switchOrPort('DASHBOARD', 'on'),
    allowsPrivateWebhooks: read.choice('WEBHOOK_PRIVATE_NETWORKS', 'off', ['on', 'off']) === 'on',
    mail: readMailConfig(read),
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
  // Each worker needs at least one connection.
  config.databaseMaxConnections = read.optionalInteger('DATABASE_MAX_CONNECTIONS', config.workers, 10_000, 20)
  if (config.databaseStandbyUrl && !databaseUrl) problems.push(STANDBY_WITHOUT_PRIMARY)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** Settings that are addresses: of stores, providers and pages. */
import { addPassword, isEmbeddedAddress, readDatabaseUrl } from '../postgres/address.ts'
import { addCertificateAuthority, DatabaseUrlError } from '../postgres/address-parameters.ts'
import { parseRedisUrl, type RedisTlsOptions } from '../stores/redis/redis-url.ts'
import type { Environment, ValueReaders } from './value-readers.ts'

export function createAddressReaders(environment: Environment, { optionalText, fileText, problem }: ValueReaders) {
  function baseUrl(name: string, fallback: string): string {
    const address = normalizeBaseUrl(optionalText(name) ?? fallback)
    if (address !== null) return address
    problem(name, 'an address that begins with http:// or https://', fallback)
    return fallback
  }

  /** Returns the proxy's public address, which the dashboard shows; null when it is not set. */
  function publicUrl(name: string): string | null {
    return optionalText(name) === null ? null : baseUrl(name, 'https://proxy.example.com').replace(/\/v1$/, '')
  }

  /** Returns null for the embedded database, also when the setting is the address at which psql reaches the embedded database. */
  function databaseUrl(name: string, embedded?: { dataDir: string; port: number }): string | null {
    const value = optionalText(name)
    if (value === null) return null
    // The address contains the file's path, because the driver reads the file itself.
    const authorityFile = fileText('DATABASE_CA_FILE') ? environment.DATABASE_CA_FILE?.trim() : undefined
    try {
      const address = readDatabaseUrl(value)
      if (embedded && isEmbeddedAddress(address, embedded.dataDir, embedded.port)) return null
      return completeUrl(value, environment, authorityFile)
    } catch (error) {
      if (!(error instanceof DatabaseUrlError)) throw error
      problem(name, error.message, 'postgres://user:password@127.0.0.1:5432/model_proxy')
      return null
    }
  }

  function redisUrl(name: string): string | null {
    const value = optionalText(name)
    if (value === null || parseRedisUrl(value) !== null) return value
    problem(
      name,
      'one redis:// or rediss:// address, a comma-separated list of cluster nodes, or redis+sentinel:// with Sentinels and the name of their master',
      'redis://127.0.0.1:6379, or redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/mymaster',
    )
    return null
  }

  /** Returns null when no file is set. A certificate and its key must be set together. */
  function redisTls(url: string | null): RedisTlsOptions | null {
    const [ca, cert, key] = ['REDIS_CA_FILE', 'REDIS_CERT_FILE', 'REDIS_KEY_FILE'].map(fileText)
    if (cert && !key) problem('REDIS_KEY_FILE', 'set where REDIS_CERT_FILE is', '/etc/model-proxy/redis.key')
    if (key && !cert) problem('REDIS_CERT_FILE', 'set where REDIS_KEY_FILE is', '/etc/model-proxy/redis.crt')
    if (!ca && !cert) return null
    if (url !== null && parseRedisUrl(url)?.isEncrypted === false) {
      problem(
        'REDIS_URL',
        'an address that begins with rediss:// where a certificate for it is set',
        'rediss://127.0.0.1:6379',
      )
    }
    return { ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) }
  }

  function origins(name: string): '*' | readonly string[] {
    // A variable that is set but empty differs from one that is not set.
    const entries = (environment[name] ?? '*').split(',').map(origin => origin.trim())
    const origins = entries.filter(origin => origin !== '')
    if (origins.length === 1 && origins[0] === '*') return '*'
    if (origins.every(origin => URL.canParse(origin) && new URL(origin).origin === origin)) return origins
    problem(name, '*, or a comma-separated list of origins, or empty', 'https://app.example.com')
    return []
  }

  return { baseUrl, publicUrl, databaseUrl, redisUrl, redisTls, origins }
}

/** Returns the address without slashes at its end; null when it is not an address of HTTP. */
export function normalizeBaseUrl(address: string): string | null {
  if (!URL.canParse(address) || !['http:', 'https:'].includes(new URL(address).protocol)) return null
  return address.replace(/(?<!\/)\/+$/, '')
}

function completeUrl(value: string, environment: Environment, authorityFile: string | undefined): string {
  const url = authorityFile ? addCertificateAuthority(value, authorityFile) : value
  return addPassword(url, readDatabaseUrl(url), environment)
}

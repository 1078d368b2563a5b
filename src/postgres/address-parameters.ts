/** Parses the parameters of DATABASE_URL: those of libpq, and those that hosting providers add for other clients. Rejects all others. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

/** A message for the operator, without secrets. It continues "DATABASE_URL must be …". */
export class DatabaseUrlError extends Error {
  override name = 'DatabaseUrlError'
}

export type AddressParameters = Readonly<Record<string, string>>

/** TLS as `sslmode` of libpq defines it. `false`: none. `prefer`: if the server supports it. Otherwise, options of node:tls. */
export type TlsOptions = false | 'prefer' | ConnectionOptions

const ANY = /^/
/** The accepted values of parameters. Their effect is below or in address.ts, or the proxy always behaves that way. */
const ACCEPTED: Readonly<Record<string, RegExp>> = {
  host: ANY,
  port: ANY,
  user: ANY,
  password: ANY,
  dbname: ANY,
  passfile: ANY,
  sslrootcert: ANY,
  sslcert: ANY,
  sslkey: ANY,
  sslpassword: ANY,
  sslmode: /^(disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/,
  ssl: /^(true|1|false|0|disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/,
  channel_binding: /^(disable|prefer|require)$/,
  ssl_min_protocol_version: /^TLSv1\.[23]$/,
  // The proxy needs a server that accepts writes, so it cannot honor other session attributes.
  target_session_attrs: /^(any|read-write|primary)$/,
  application_name: ANY,
  options: ANY,
  connect_timeout: /^\d{1,4}$/,
  // Prisma, Rails and Supabase use these behind poolers without prepared statements.
  pgbouncer: /^(true|false)$/,
  statement_cache_size: /^\d+$/,
  prepared_statements: /^(true|false)$/,
  connection_limit: /^[1-9]\d{0,3}$/,
  // The proxy always behaves this way, or the parameter does not affect it.
  client_encoding: /^(auto|utf-?8)$/i,
  fallback_application_name: ANY,
  gssencmode: /^(disable|prefer)$/,
  sslcompression: /^0$/,
  sslsni: /^1$/,
  sslnegotiation: /^postgres$/,
  load_balance_hosts: /^disable$/,
  keepalives: ANY,
  keepalives_idle: ANY,
  keepalives_interval: ANY,
  keepalives_count: ANY,
  tcp_user_timeout: ANY,
  uselibpqcompat: ANY,
  supa: ANY,
}

const ADVICE: Readonly<Record<string, string>> = {
  schema: '; set DATABASE_SCHEMA instead',
  search_path: '; set DATABASE_SCHEMA instead',
  pool_timeout: '; requests have a time limit of their own',
}

/** Parses parameters. Throws DatabaseUrlError for an unknown name or unsupported value. As in libpq, + is a plus, and the last duplicate wins. */
export function parseAddressParameters(query: string): AddressParameters {
  const found: Record<string, string> = {}
  for (const piece of query.split('&')) {
    if (piece === '') continue
    const [, name = '', encoded = ''] = /^([a-z_]{1,40})=(.*)$/i.exec(piece) ?? []
    // The message must not quote it, because it may be part of a password that was not encoded.
    if (name === '' || query.includes('@'))
      throw new DatabaseUrlError('an address whose parameters are written name=value (in a password, write %3F for ?)')
    const accepted = ACCEPTED[name]
    if (!accepted)
      throw new DatabaseUrlError(
        `an address without the parameter ${name}, which is not supported${ADVICE[name] ?? ''}`,
      )
    const value = decodeURIComponent(encoded)
    if (!accepted.test(value))
      throw new DatabaseUrlError(`an address with another value of ${name}: it takes ${describe(accepted)}`)
    found[name] = value
  }
  return found
}

/** Lists the alternatives of a pattern `^(a|b)$`. */
function describe({ source }: RegExp): string {
  const choices = /^\^\(([^()\\]*)\)\$$/.exec(source)?.[1]
  return choices ? choices.replaceAll('|', ', ') : source.replace(/^\^|\$$/g, '').replaceAll('\\', '')
}

/** Returns true if the parameters disable named prepared statements, which some poolers do not support. */
export function isPreparedDisabled({
  pgbouncer,
  statement_cache_size,
  prepared_statements,
}: AddressParameters): boolean {
  return pgbouncer === 'true' || statement_cache_size === '0' || prepared_statements === 'false'
}

const MODES: Readonly<Record<string, string>> = { true: 'require', 1: 'require', false: 'disable', 0: 'disable' }

function modeOf({ sslmode, ssl, sslrootcert, channel_binding }: AddressParameters): string {
  if (sslmode) return sslmode
  if (ssl) return MODES[ssl] ?? ssl
  // An authority implies verification. libpq verifies only for `system`.
  if (sslrootcert) return 'verify-full'
  return channel_binding === 'require' ? 'require' : 'prefer'
}

/**
 * Converts the parameters to TLS options. The driver does not support channel binding. For `channel_binding=require`, the certificate is
 * verified instead, which also prevents impersonation of the server.
 */
export function resolveTlsOptions(parameters: AddressParameters): TlsOptions {
  const { sslrootcert, sslcert, sslkey, sslpassword, channel_binding, ssl_min_protocol_version } = parameters
  const mode = modeOf(parameters)
  const isBound = channel_binding === 'require'
  if (isBound && ['disable', 'allow', 'prefer'].includes(mode))
    throw new DatabaseUrlError(`an address with sslmode=verify-full: channel_binding=require needs TLS`)
  if (mode === 'disable') return false
  if (mode === 'allow' || mode === 'prefer') return 'prefer'
  const options: ConnectionOptions = {
    ...(sslrootcert && sslrootcert !== 'system' ? { ca: readPem('sslrootcert', sslrootcert) } : {}),
    ...(sslcert ? { cert: readPem('sslcert', sslcert) } : {}),
    ...(sslkey ? { key: readPem('sslkey', sslkey) } : {}),
    ...(sslpassword ? { passphrase: sslpassword } : {}),
    ...(ssl_min_protocol_version === 'TLSv1.3' ? { minVersion: 'TLSv1.3' } : {}),
  }
  if (mode === 'verify-full' || (isBound && mode !== 'verify-ca')) return options
  // With a root certificate, libpq also verifies the authority in the mode `require`.
  if (mode === 'verify-ca' || (mode === 'require' && sslrootcert))
    return { ...options, checkServerIdentity: () => undefined }
  return { ...options, rejectUnauthorized: false }
}

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    throw new DatabaseUrlError(`an address whose ${name} is a file that this user can read; ${path} is not`)
  }
}

/** Returns the URL with the authority of DATABASE_CA_FILE. Throws DatabaseUrlError if the URL disables verification. */
export function addCertificateAuthority(url: string, file: string): string {
  const parameters = parseAddressParameters(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '')
  const isChosen = parameters.sslmode !== undefined || parameters.ssl !== undefined
  if (isChosen && ['disable', 'allow', 'prefer', 'no-verify'].includes(modeOf(parameters)))
    throw new DatabaseUrlError('an address with sslmode=verify-full where DATABASE_CA_FILE is set')
  return `${url}${url.includes('?') ? '&' : '?'}sslrootcert=${encodeURIComponent(file)}`
}

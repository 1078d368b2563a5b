/** The parameters of DATABASE_URL: those of libpq, and those that hosts add for other clients. Any other is rejected by name. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

/** A message for the operator, without secrets; it continues "DATABASE_URL must be …". */
export class DatabaseUrlError extends Error {
  override name = 'AddressProblem'
}

export type AddressParameters = Readonly<Record<string, string>>

/** TLS as libpq's `sslmode` defines it. false: none. prefer: encrypted if the server supports it. Otherwise options of node:tls. */
export type TlsOptions = false | 'prefer' | ConnectionOptions

const isAny = /^/
/** Accepted values of parameters; their effect is below, in address.ts, or that of the proxy anyway. */
const ACCEPTED: Readonly<Record<string, RegExp>> = {
  host: isAny,
  port: isAny,
  user: isAny,
  password: isAny,
  dbname: isAny,
  passfile: isAny,
  sslrootcert: isAny,
  sslcert: isAny,
  sslkey: isAny,
  sslpassword: isAny,
  sslmode: /^(disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/,
  ssl: /^(true|1|false|0|disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/,
  channel_binding: /^(disable|prefer|require)$/,
  ssl_min_protocol_version: /^TLSv1\.[23]$/,
  // The proxy writes, so it needs a server that takes writes: other session attributes cannot be met.
  target_session_attrs: /^(any|read-write|primary)$/,
  application_name: isAny,
  options: isAny,
  connect_timeout: /^\d{1,4}$/,
  // Of Prisma, Rails and Supabase: behind a pooler that does not carry prepared statements.
  pgbouncer: /^(true|false)$/,
  statement_cache_size: /^\d+$/,
  prepared_statements: /^(true|false)$/,
  connection_limit: /^[1-9]\d{0,3}$/,
  // What the proxy does in any case, or what changes nothing that it reads.
  client_encoding: /^(auto|utf-?8)$/i,
  fallback_application_name: isAny,
  gssencmode: /^(disable|prefer)$/,
  sslcompression: /^0$/,
  sslsni: /^1$/,
  sslnegotiation: /^postgres$/,
  load_balance_hosts: /^disable$/,
  keepalives: isAny,
  keepalives_idle: isAny,
  keepalives_interval: isAny,
  keepalives_count: isAny,
  tcp_user_timeout: isAny,
  uselibpqcompat: isAny,
  supa: isAny,
}

const INSTEAD: Readonly<Record<string, string>> = {
  schema: '; set DATABASE_SCHEMA in its place',
  search_path: '; set DATABASE_SCHEMA in its place',
  pool_timeout: '; no request waits for a connection longer than it may take',
}

/** Throws DatabaseUrlError for one that is unknown, or has a value that cannot be met. As with libpq, + is a plus, and the last of several counts. */
export function parseAddressParameters(query: string): AddressParameters {
  const found: Record<string, string> = {}
  for (const piece of query.split('&')) {
    if (piece === '') continue
    const [, name = '', encoded = ''] = /^([a-z_]{1,40})=(.*)$/i.exec(piece) ?? []
    // It may be a part of a password that was not encoded.
    if (name === '' || query.includes('@'))
      throw new DatabaseUrlError('an address whose parameters are written name=value (in a password, write %3F for ?)')
    const accepted = ACCEPTED[name]
    if (!accepted)
      throw new DatabaseUrlError(
        `an address without the parameter ${name}, which is not supported${INSTEAD[name] ?? ''}`,
      )
    const value = decodeURIComponent(encoded)
    if (!accepted.test(value))
      throw new DatabaseUrlError(`an address with another value of ${name}: it takes ${describe(accepted)}`)
    found[name] = value
  }
  return found
}

/** `^(a|b)$` as words. */
function describe({ source }: RegExp): string {
  const choices = /^\^\(([^()\\]*)\)\$$/.exec(source)?.[1]
  return choices ? choices.replaceAll('|', ', ') : source.replace(/^\^|\$$/g, '').replaceAll('\\', '')
}

/** Whether the parameters ask for unnamed statements, as they do behind a pooler that loses named ones. */
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
  // Whoever names an authority wants it verified; libpq does so for `system` alone.
  if (sslrootcert) return 'verify-full'
  return channel_binding === 'require' ? 'require' : 'prefer'
}

/**
 * The driver binds no channel. What `channel_binding=require` is for, a server that nobody else can pass for, is had by verifying its
 * certificate.
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
  // With a root certificate, libpq verifies the authority in mode require, too.
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

/** The URL with the authority of DATABASE_CA_FILE, which is verified then. Throws DatabaseUrlError where the URL asks not to. */
export function addCertificateAuthority(url: string, file: string): string {
  const parameters = parseAddressParameters(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '')
  const isChosen = parameters.sslmode !== undefined || parameters.ssl !== undefined
  if (isChosen && ['disable', 'allow', 'prefer', 'no-verify'].includes(modeOf(parameters)))
    throw new DatabaseUrlError('an address with sslmode=verify-full where DATABASE_CA_FILE is set')
  return `${url}${url.includes('?') ? '&' : '?'}sslrootcert=${encodeURIComponent(file)}`
}

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addPassword, describeAddress, isEmbeddedAddress, readDatabaseUrl } from '../../../src/postgres/address.ts'
import { addCertificateAuthority, DatabaseUrlError } from '../../../src/postgres/address-parameters.ts'

/** Returns null if readDatabaseUrl() throws DatabaseUrlError. */
function parseDatabaseUrl(url: string) {
  try {
    return readDatabaseUrl(url)
  } catch (error) {
    if (error instanceof DatabaseUrlError) return null
    throw error
  }
}

test('parses an address as libpq does', () => {
  expect(parseDatabaseUrl('postgres://u%40x:p%3Aw@db.example:6543/my%20db')).toEqual({
    hosts: [{ host: 'db.example', port: 6543 }],
    user: 'u@x',
    password: 'p:w',
    database: 'my db',
    tls: 'prefer',
  })
  expect(parseDatabaseUrl('postgresql://u@[::1]:5433,b,c:7/d?target_session_attrs=read-write')?.hosts).toEqual([
    { host: '::1', port: 5433 },
    { host: 'b', port: 5432 },
    { host: 'c', port: 7 },
  ])
  expect(parseDatabaseUrl('postgres://u@/d?host=/var/run/postgresql&port=5434')?.hosts).toEqual([
    { host: '/var/run/postgresql', port: 5434 },
  ])
  // The default database has the user's name.
  expect(parseDatabaseUrl('postgres://someone@h')).toMatchObject({ user: 'someone', database: 'someone' })
  expect(parseDatabaseUrl('postgres://u:a@b@h/d')).toMatchObject({ password: 'a@b', hosts: [{ host: 'h' }] })
})

test.each([
  ['disable', false],
  ['allow', 'prefer'],
  ['prefer', 'prefer'],
  ['require', { rejectUnauthorized: false }],
  ['no-verify', { rejectUnauthorized: false }],
  ['verify-full', {}],
])('sslmode=%s', (mode, tls) => {
  expect(parseDatabaseUrl(`postgres://u@h/d?sslmode=${mode}`)?.tls).toEqual(tls)
})

test('verify-ca checks the authority and not the name', () => {
  expect(parseDatabaseUrl('postgres://u@h/d?sslmode=verify-ca')?.tls).toEqual({
    checkServerIdentity: expect.any(Function),
  })
})

test.each([
  'localhost',
  'mysql://h/d',
  'postgres://h:port/d',
  'postgres://h:0/d',
  'postgres://h/d?sslmode=perhaps',
  'postgres://h/d?sslrootcert=/no/such/file',
  'postgres://h/d?target_session_attrs=standby',
  'postgres://%zz@h/d',
  'postgres://h/d?sslmod=require',
  'postgres://h/d?sslmode',
  'postgres://h/d?gssencmode=require',
  'postgres://h/d?client_encoding=latin1',
  'postgres://h/d?sslmode=disable&channel_binding=require',
])('rejects %s', url => {
  expect(parseDatabaseUrl(url)).toBeNull()
})

// Connection URLs as Heroku, DigitalOcean, Neon, Supabase, Vercel, Render, Aiven, Google and Prisma write them.
test.each([
  ['', { tls: 'prefer' }],
  ['?ssl=true', { tls: { rejectUnauthorized: false } }],
  ['?ssl=false', { tls: false }],
  ['?sslmode=require', { tls: { rejectUnauthorized: false } }],
  ['?sslmode=require&channel_binding=require', { tls: {} }],
  ['?sslmode=require&channel_binding=prefer', { tls: { rejectUnauthorized: false } }],
  ['?channel_binding=require', { tls: {} }],
  ['?sslmode=require&pgbouncer=true&connection_limit=1', { isPrepared: false, connectionLimit: 1 }],
  ['?statement_cache_size=0', { isPrepared: false }],
  ['?sslmode=require&supa=base-pooler.x', { tls: { rejectUnauthorized: false } }],
  ['?sslmode=require&uselibpqcompat=true', { tls: { rejectUnauthorized: false } }],
  ['?sslmode=require&connect_timeout=15', { connectTimeLimitMs: 15_000 }],
  ['?options=endpoint%3Dep-cool-name-123', { startup: { options: 'endpoint=ep-cool-name-123' } }],
  [
    '?options=-c%20search_path%3Dapp&application_name=proxy+1',
    { startup: { options: '-c search_path=app', application_name: 'proxy+1' } },
  ],
  ['?host=/cloudsql/project:region:instance', { hosts: [{ host: '/cloudsql/project:region:instance', port: 5432 }] }],
  ['?keepalives=1&keepalives_idle=30&gssencmode=disable&target_session_attrs=read-write', { tls: 'prefer' }],
])('accepts the parameters %s', (query, meaning) => {
  const parsed = parseDatabaseUrl(`postgres://u:p@h/d${query}`)
  expect(parsed).toMatchObject(meaning)
  // An empty options object means full verification.
  if ('tls' in meaning) expect(parsed?.tls).toEqual(meaning.tls)
})

test('rejects an unknown parameter by its name, without repeating a part of a password', () => {
  expect(() => readDatabaseUrl('postgres://u:s3cret@h/d?pool_mode=transaction')).toThrow(
    'the parameter pool_mode, which',
  )
  expect(() => readDatabaseUrl('postgres://u@h/d?schema=app')).toThrow('set DATABASE_SCHEMA')
  expect(() => readDatabaseUrl('postgres://u@h/d?sslmode=on')).toThrow('it takes disable, allow, prefer, require')
  for (const url of [
    'postgres://u:pa?s3cret@h/d',
    'postgres://u:pa?s3cret=1@h/d',
    'postgres://u:pa?s3cret&x=1@h/d?ssl=true',
  ])
    expect(() => readDatabaseUrl(url)).toThrow(/^(?!.*s3cret).*%3F/)
})

test('with DATABASE_CA_FILE the server is verified, unless the address disables verification', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'authority-')), 'ca.pem')
  writeFileSync(file, 'an authority')
  const tlsOf = (query: string) => parseDatabaseUrl(addCertificateAuthority(`postgres://u@h/d${query}`, file))?.tls
  const ca = Buffer.from('an authority')
  expect(tlsOf('')).toEqual({ ca })
  expect(tlsOf('?sslmode=verify-full')).toEqual({ ca })
  // libpq, too, verifies only the certificate authority here.
  expect(tlsOf('?sslmode=require')).toEqual({ ca, checkServerIdentity: expect.any(Function) })
  expect(tlsOf('?ssl=true')).toEqual({ ca, checkServerIdentity: expect.any(Function) })
  for (const mode of ['disable', 'allow', 'prefer', 'no-verify'])
    expect(() => tlsOf(`?sslmode=${mode}`)).toThrow('sslmode=verify-full where DATABASE_CA_FILE is set')
})

test('the description of an address contains no secret', () => {
  const address = parseDatabaseUrl('postgres://user:s3cret@a:1,b:2/d')
  expect(address && describeAddress(address)).toBe('a:1,b:2/d')
})

test('finds the password that libpq would', () => {
  const folder = mkdtempSync(join(tmpdir(), 'passwords-'))
  const file = join(folder, 'pgpass')
  const lines = ['# comment', 'other:5432:*:*:wrong', 'h:5432:d:u:p\\:w\\\\', 'localhost:*:*:*:socket']
  writeFileSync(file, lines.join('\n'), { mode: 0o600 })
  const passwordOf = (url: string, sources = {}) => {
    const address = parseDatabaseUrl(url)
    return address && parseDatabaseUrl(addPassword(url, address, sources))?.password
  }
  expect(passwordOf('postgres://u@h/d', { PGPASSFILE: file })).toBe('p:w\\')
  expect(passwordOf(`postgres://u@h/d?passfile=${file}`)).toBe('p:w\\')
  expect(passwordOf('postgres://u@/d?host=/var/run/postgresql', { PGPASSFILE: file })).toBe('socket')
  expect(passwordOf('postgres://u:own@h/d', { PGPASSFILE: file, PGPASSWORD: 'x' })).toBe('own')
  expect(passwordOf('postgres://u@h/d', { PGPASSFILE: file, PGPASSWORD: 'x' })).toBe('x')
  expect(passwordOf('postgres://u@elsewhere/d', { PGPASSFILE: file })).toBe('')
  // libpq ignores a password file that others can read.
  chmodSync(file, 0o644)
  expect(passwordOf('postgres://u@h/d', { PGPASSFILE: file })).toBe('')
  rmSync(folder, { recursive: true })
})

test('recognizes the address of the embedded database by its password file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'passwords-'))
  const isEmbedded = (url: string) => {
    const address = parseDatabaseUrl(url)
    return address && isEmbeddedAddress(address, folder, 5433)
  }
  const url = 'postgres://postgres@127.0.0.1:5433/postgres'
  expect(isEmbedded(url)).toBe(false)
  writeFileSync(join(folder, 'psql.pgpass'), '127.0.0.1:5433:*:postgres:secret\n', { mode: 0o600 })
  expect([url, url.replace('127.0.0.1', 'localhost'), url.replace('@', ':secret@')].map(isEmbedded)).toEqual([
    true,
    true,
    true,
  ])
  const others = [
    url.replace('5433', '5432'),
    url.replace('@', ':other@'),
    url.replace('//postgres', '//me'),
    `${url}2`,
  ]
  expect(others.map(isEmbedded)).toEqual([false, false, false, false])
  // The proxy uses another `EMBEDDED_PG_PORT`, which is not set in the operator’s shell.
  writeFileSync(join(folder, 'psql.pgpass'), '127.0.0.1:*:*:postgres:secret\n', { mode: 0o600 })
  expect(isEmbedded(url.replace('5433', '6000'))).toBe(false)
  writeFileSync(join(folder, 'psql.port'), '6000')
  expect([url.replace('5433', '6000'), url, url.replace('5433', '5432')].map(isEmbedded)).toEqual([true, true, false])
  rmSync(folder, { recursive: true })
})

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeAddress, isEmbeddedAddress, parseDatabaseUrl, withPassword } from '../../../src/postgres/address.ts'

test('takes an address apart as libpq does', () => {
  expect(parseDatabaseUrl('postgres://u%40x:p%3Aw@db.example:6543/my%20db')).toEqual({
    hosts: [{ host: 'db.example', port: 6543 }],
    user: 'u@x',
    password: 'p:w',
    database: 'my db',
    tls: false,
  })
  expect(parseDatabaseUrl('postgresql://u@[::1]:5433,b,c:7/d?target_session_attrs=read-write')?.hosts).toEqual([
    { host: '::1', port: 5433 },
    { host: 'b', port: 5432 },
    { host: 'c', port: 7 },
  ])
  expect(parseDatabaseUrl('postgres://u@/d?host=/var/run/postgresql&port=5434')?.hosts).toEqual([
    { host: '/var/run/postgresql', port: 5434 },
  ])
  // Without a database, the user's own.
  expect(parseDatabaseUrl('postgres://someone@h')).toMatchObject({ user: 'someone', database: 'someone' })
  expect(parseDatabaseUrl('postgres://u:a@b@h/d')).toMatchObject({ password: 'a@b', hosts: [{ host: 'h' }] })
})

test.each([
  ['disable', false],
  ['allow', 'prefer'],
  ['prefer', 'prefer'],
  ['require', { rejectUnauthorized: false }],
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
])('refuses %s', url => {
  expect(parseDatabaseUrl(url)).toBeNull()
})

test('what is said of it holds no secret', () => {
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
    return address && parseDatabaseUrl(withPassword(url, address, sources))?.password
  }
  expect(passwordOf('postgres://u@h/d', { PGPASSFILE: file })).toBe('p:w\\')
  expect(passwordOf(`postgres://u@h/d?passfile=${file}`)).toBe('p:w\\')
  expect(passwordOf('postgres://u@/d?host=/var/run/postgresql', { PGPASSFILE: file })).toBe('socket')
  expect(passwordOf('postgres://u:own@h/d', { PGPASSFILE: file, PGPASSWORD: 'x' })).toBe('own')
  expect(passwordOf('postgres://u@h/d', { PGPASSFILE: file, PGPASSWORD: 'x' })).toBe('x')
  expect(passwordOf('postgres://u@elsewhere/d', { PGPASSFILE: file })).toBe('')
  // libpq ignores a file that others can read.
  chmodSync(file, 0o644)
  expect(passwordOf('postgres://u@h/d', { PGPASSFILE: file })).toBe('')
  rmSync(folder, { recursive: true })
})

test('knows the address of the embedded database by its password file', () => {
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
  // A proxy with another EMBEDDED_PG_PORT, of which an operator's shell knows nothing.
  writeFileSync(join(folder, 'psql.pgpass'), '127.0.0.1:*:*:postgres:secret\n', { mode: 0o600 })
  expect(isEmbedded(url.replace('5433', '6000'))).toBe(false)
  writeFileSync(join(folder, 'psql.port'), '6000')
  expect([url.replace('5433', '6000'), url, url.replace('5433', '5432')].map(isEmbedded)).toEqual([true, true, false])
  rmSync(folder, { recursive: true })
})

import { expect, test } from 'vitest'
import { describeAddress, parseDatabaseUrl } from '../../../src/postgres/address.ts'

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

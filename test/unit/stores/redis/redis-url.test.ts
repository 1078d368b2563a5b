import { expect, test } from 'vitest'
import { parseRedisUrl } from '../../../../src/stores/redis/redis-url.ts'

const PLAIN = { isCluster: false, sentinel: null, isEncrypted: false, username: null, password: null, db: 0 }

test.each([
  ['redis://127.0.0.1', { ...PLAIN, hosts: [{ host: '127.0.0.1', port: 6379 }] }],
  ['redis://[::1]:7000/3', { ...PLAIN, hosts: [{ host: '::1', port: 7000 }], db: 3 }],
  [
    'rediss://app:p%40ss:word@cache.example.com:6380',
    {
      ...PLAIN,
      hosts: [{ host: 'cache.example.com', port: 6380 }],
      isEncrypted: true,
      username: 'app',
      password: 'p@ss:word',
    },
  ],
  ['redis://:secret@h', { ...PLAIN, hosts: [{ host: 'h', port: 6379 }], password: 'secret' }],
  [
    'redis://a:7000, redis://b:7001',
    {
      ...PLAIN,
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
      ],
      isCluster: true,
    },
  ],
  [
    'redis+sentinel://:secret@a,b:26380/mymaster/2?sentinel_password=other',
    {
      ...PLAIN,
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 26_380 },
      ],
      sentinel: { master: 'mymaster', password: 'other' },
      password: 'secret',
      db: 2,
    },
  ],
  [
    'rediss+sentinel://a/m',
    { ...PLAIN, hosts: [{ host: 'a', port: 26_379 }], sentinel: { master: 'm', password: null }, isEncrypted: true },
  ],
])('%s', (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address)
})

test.each([
  '',
  'redis',
  'http://a',
  'redis://',
  'redis://a:port',
  'redis://a:70000',
  'redis://a/x',
  'redis://a,b',
  'redis://a,http://b',
  'redis+sentinel://a',
  'redis+sentinel://a/',
  'redis+sentinel://a,redis://b/m',
])('rejects %j as an address of Redis', url => {
  expect(parseRedisUrl(url)).toBeNull()
})

import { expect, test } from 'vitest'
import { readCacheControl } from '../../../src/cache/cache-control.ts'

const read = (headers: Record<string, string>) => readCacheControl(new Headers(headers))

test('without headers, the project’s settings apply', () => {
  expect(read({})).toEqual({
    lookup: true,
    store: true,
    maxAgeSeconds: null,
    onlyIfCached: false,
    ttlSeconds: null,
    threshold: null,
    namespace: '',
    version: '',
    isOldVersion: false,
    sharingScope: '',
  })
})

test.each([
  ['no-cache', { lookup: false, store: true }],
  ['no-store', { lookup: false, store: false }],
  ['max-age=30', { maxAgeSeconds: 30, lookup: true }],
  ['Max-Age="30" , only-if-cached', { maxAgeSeconds: 30, onlyIfCached: true }],
  ['no-transform, something-new=1', { lookup: true, store: true }],
])('Cache-Control: %s', (value, expected) => {
  expect(read({ 'cache-control': value })).toMatchObject(expected)
})

test('reads the proxy’s own cache headers', () => {
  const headers = { 'x-proxy-cache-ttl': '60', 'x-proxy-cache-threshold': '0.8', 'x-proxy-cache-namespace': ' team a ' }
  expect(read(headers)).toMatchObject({ ttlSeconds: 60, threshold: 0.8, namespace: 'team a' })
  for (const version of ['docs@42', 'docs@1.10.2', 'a@b', 'docs/de:1@2026-11-29T10:00', `docs@${'1'.repeat(251)}`])
    expect(read({ 'x-proxy-cache-version': ` ${version} ` })).toMatchObject({ version, isOldVersion: false })
})

test.each([
  ['Cache-Control', 'max-age=soon'],
  ['Cache-Control', 'max-age=-1'],
  ['Cache-Control', 'max-age'],
  ['X-Proxy-Cache-TTL', '1.5'],
  ['X-Proxy-Cache-TTL', '9999999999'],
  ['X-Proxy-Cache-Threshold', '1.1'],
  ['X-Proxy-Cache-Threshold', 'high'],
  ['X-Proxy-Cache-Threshold', '1e-3'],
  ['X-Proxy-Cache-Namespace', 'x'.repeat(257)],
  ['X-Proxy-Cache-Namespace', 'é'],
  ['X-Proxy-Cache-Version', ''],
  ['X-Proxy-Cache-Version', 'docs'],
  ['X-Proxy-Cache-Version', '@42'],
  ['X-Proxy-Cache-Version', 'docs@'],
  ['X-Proxy-Cache-Version', '@'],
  ['X-Proxy-Cache-Version', 'docs@4@2'],
  ['X-Proxy-Cache-Version', 'docs@4 2'],
  ['X-Proxy-Cache-Version', 'docs@42, faq@1'],
  ['X-Proxy-Cache-Version', 'do,cs@42'],
  ['X-Proxy-Cache-Version', 'docs@é'],
  ['X-Proxy-Cache-Version', 'docs@4\t2'],
  ['X-Proxy-Cache-Version', `docs@${'1'.repeat(252)}`],
])('rejects a bad %s with a 400 that names it: %s', (header, value) => {
  expect(() => read({ [header]: value })).toThrow(expect.objectContaining({ status: 400, param: header }))
})

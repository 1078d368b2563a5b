import { expect, test } from 'vitest'
import { resolveClientAddress } from '../../../src/http/ingress.ts'
import { addressPrefix } from '../../../src/stores/fast-store.ts'

test.each([
  ['no proxy is trusted', '192.0.2.9', '203.0.113.7', 0, '192.0.2.9'],
  ['one proxy is trusted', '192.0.2.9', '203.0.113.7', 1, '203.0.113.7'],
  ['the client forged an address further left', '192.0.2.9', '10.0.0.1, 203.0.113.7', 1, '203.0.113.7'],
  ['two proxies are trusted', '192.0.2.9', '203.0.113.7, 198.51.100.2', 2, '203.0.113.7'],
  ['fewer addresses than trusted proxies', '192.0.2.9', '203.0.113.7', 3, '203.0.113.7'],
  ['the header is missing', '192.0.2.9', null, 1, '192.0.2.9'],
  ['the header contains no address', '192.0.2.9', 'unknown', 1, '192.0.2.9'],
  ['IPv4 is mapped to IPv6', '::ffff:192.0.2.9', null, 0, '192.0.2.9'],
  ['the address is IPv6', '2001:db8::1', '2001:db8::2', 1, '2001:db8::2'],
])('%s', (_, socket, forwardedFor, trusted, expected) => {
  expect(resolveClientAddress(socket, forwardedFor, trusted)).toBe(expected)
})

test.each([
  ['192.0.2.9', '192.0.2.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
])('%s is counted as %s', (address, prefix) => {
  expect(addressPrefix(address)).toBe(prefix)
})

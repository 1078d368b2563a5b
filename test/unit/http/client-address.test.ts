import { expect, test } from 'vitest'
import { readClientAddress } from '../../../src/http/client-address.ts'

test.each([
  ['no proxy is trusted', '192.0.2.9', '203.0.113.7', 0, '192.0.2.9'],
  ['one proxy tells', '192.0.2.9', '203.0.113.7', 1, '203.0.113.7'],
  ['the client made up what stands further left', '192.0.2.9', '10.0.0.1, 203.0.113.7', 1, '203.0.113.7'],
  ['two proxies tell', '192.0.2.9', '203.0.113.7, 198.51.100.2', 2, '203.0.113.7'],
  ['fewer told than are trusted', '192.0.2.9', '203.0.113.7', 3, '203.0.113.7'],
  ['the header is missing', '192.0.2.9', null, 1, '192.0.2.9'],
  ['what was told is no address', '192.0.2.9', 'unknown', 1, '192.0.2.9'],
  ['IPv4 comes as IPv6', '::ffff:192.0.2.9', null, 0, '192.0.2.9'],
  ['it is IPv6', '2001:db8::1', '2001:db8::2', 1, '2001:db8::2'],
])('%s', (_, socket, forwardedFor, trusted, expected) => {
  expect(readClientAddress(socket, forwardedFor, trusted)).toBe(expected)
})

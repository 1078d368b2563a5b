import { expect, test } from 'vitest'
import { addressPrefix } from '../../../src/stores/fast-store.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:0:1::7', '2001:db8:0:1::/64'],
  ['2001:0DB8:0000:0001:1:2:3:4', '2001:db8:0:1::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1:2:3:4:5::192.0.2.7', '1:2:3:4::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  // All zones of a link-local address share one limit, because the client can choose the zone.
  ['1::2%a:b:c:d:e:f:g', '1:0:0:0::/64'],
])('%s is limited as %s', (address, prefix) => {
  expect(addressPrefix(address)).toBe(prefix)
})

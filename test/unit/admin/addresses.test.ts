import { expect, test } from 'vitest'
import { dashboardOriginOf, proxyBaseUrlOf } from '../../../src/admin/addresses.ts'
import { readConfig } from '../../../src/config/config.ts'

function addressesOf(environment: Record<string, string>, headers: Record<string, string> = {}) {
  const request = new Request('http://ignored/', { headers: { host: '127.0.0.1:4000', ...headers } })
  const config = readConfig(environment)
  return [dashboardOriginOf(request, config), proxyBaseUrlOf(request, config)]
}

test.each([
  ['on the proxy’s own port', {}, ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/v1']],
  ['on another port', { DASHBOARD: '4000', PORT: '3000' }, ['http://127.0.0.1:4000', 'http://127.0.0.1:3000/v1']],
  [
    'configured',
    { PUBLIC_URL: 'https://proxy.example.com/' },
    ['https://proxy.example.com', 'https://proxy.example.com/v1'],
  ],
  [
    'configured with a path',
    { PUBLIC_URL: 'https://example.com/llm/v1' },
    ['https://example.com', 'https://example.com/llm/v1'],
  ],
  [
    'configured, with another port for the dashboard',
    { PUBLIC_URL: 'https://proxy.example.com', DASHBOARD: '4000' },
    ['http://127.0.0.1:4000', 'https://proxy.example.com/v1'],
  ],
])('the dashboard’s address and the proxy’s address: %s', (_, environment, addresses) => {
  expect(addressesOf(environment)).toEqual(addresses)
})

test('accepts https from a forwarding header only of a trusted proxy', () => {
  const headers = { host: 'proxy.example.com', 'x-forwarded-proto': 'https' }
  expect(addressesOf({ TRUST_PROXY: '1' }, headers)[1]).toBe('https://proxy.example.com/v1')
  expect(addressesOf({}, headers)[1]).toBe('http://proxy.example.com/v1')
})

import { expect, test } from 'vitest'
import { createAddressWriter, type VendorConnection } from '../../../src/providers/vendor-connection.ts'

const BASE = { baseUrl: 'https://api.example.com/v1', apiKey: 'sk-+&/1' }
const address = (more: Partial<VendorConnection>, path = '/chat/completions', model = 'm') => {
  const { url, headers } = createAddressWriter({ ...BASE, ...more })(path, model)
  return [url.replace(BASE.baseUrl, ''), headers]
}

test.each<[Partial<VendorConnection>, string, Record<string, string>]>([
  [{}, '/chat/completions', { authorization: 'Bearer sk-+&/1' }],
  [{ keyLocation: 'bearer' }, '/chat/completions', { authorization: 'Bearer sk-+&/1' }],
  [{ keyLocation: 'header:Api-Key' }, '/chat/completions', { 'api-key': 'sk-+&/1' }],
  [{ keyLocation: 'query:key' }, '/chat/completions?key=sk-%2B%26%2F1', {}],
  [{ keyLocation: 'none' }, '/chat/completions', {}],
  [{ apiKey: null }, '/chat/completions', {}],
  [
    { queryParameters: { 'api-version': '2024-10-21' }, keyLocation: 'query:key' },
    '/chat/completions?api-version=2024-10-21&key=sk-%2B%26%2F1',
    {},
  ],
  [{ sentHeaders: { 'x-version': '2' } }, '/chat/completions', { 'x-version': '2', authorization: 'Bearer sk-+&/1' }],
])('writes the key, the query and the headers of %j', (connection, path, headers) => {
  expect(address(connection)).toEqual([path, headers])
})

test('a sent header does not replace the key', () => {
  expect(address({ keyLocation: 'header:api-key', sentHeaders: { 'api-key': 'other' } })[1]).toEqual({
    'api-key': 'sk-+&/1',
  })
})

test.each([
  ['/deployments/{model}{path}', 'gpt-4o', '/deployments/gpt-4o/chat/completions'],
  ['/deployments/{model}{path}', '../a?b#{path}', '/deployments/..%2Fa%3Fb%23%7Bpath%7D/chat/completions'],
  // A request for the list of models names no model.
  ['/deployments/{model}{path}', '', '/chat/completions'],
  ['/inference{path}', '', '/inference/chat/completions'],
])('%s with model %j is %s', (pathTemplate, model, expected) => {
  expect(address({ pathTemplate }, '/chat/completions', model)[0]).toBe(expected)
})

test('adds the query to that of the path', () => {
  const connection = { queryParameters: { v: '1' } }
  expect(address(connection, '/files?limit=2&after=a?b')[0]).toBe('/files?limit=2&after=a?b&v=1')
})

test('the key is redacted in responses wherever it was sent', () => {
  const { credentials } = createAddressWriter({ ...BASE, apiKey: 'sk-secret-0123456789', keyLocation: 'query:key' })(
    '/a',
  )
  expect(credentials.redact('from sk-secret-0123456789')).not.toContain('0123456789')
})

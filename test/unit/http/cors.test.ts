import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createCors } from '../../../src/http/respond.ts'

const from = (origin: string | null, method = 'POST', more: Record<string, string> = {}) =>
  new Request('http://proxy/v1/chat/completions', {
    method,
    headers: { ...(origin === null ? {} : { origin }), ...more },
  })
const ASKING = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,x-stainless-os',
}

test('by default every origin may call, without credentials', () => {
  const cors = createCors('*')
  const headers = cors.headersFor(from('https://a.example'))
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers['access-control-expose-headers']).toContain('X-Proxy-Cache-Similarity')
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
  expect(cors.headersFor(from(null))).toEqual({})
})

/** Headers that clients send. */
const ASKED = [
  'x-proxy-cache-ttl',
  'x-proxy-cache-threshold',
  'x-proxy-cache-namespace',
  'x-proxy-cache-version',
  'x-proxy-tags',
]

test('a page may read every header that the proxy sets', () => {
  const exposed = createCors('*').headersFor(from('https://a.example'))['access-control-expose-headers'] ?? ''
  const readable = new Set(exposed.toLowerCase().split(', '))
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const named = [...new Bun.Glob('src/{admission,cache,http,pipeline,providers}/**/*.ts').scanSync(root)].flatMap(
    path =>
      Array.from(readFileSync(`${root}${path}`, 'utf8').matchAll(/'(x-proxy-[a-z-]+)'/g), ([, name = '']) => name),
  )
  expect(named).toContain('x-proxy-cache')
  expect([...new Set(named)].filter(name => !readable.has(name) && !ASKED.includes(name))).toEqual([])
})

test('a preflight is allowed what it requests', () => {
  const cors = createCors('*')
  expect(cors.preflight(from('https://a.example', 'OPTIONS', ASKING))).toEqual({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization,x-stainless-os',
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-max-age': '7200',
  })
  expect(cors.preflight(from('https://a.example', 'OPTIONS'))).toBe(null)
  expect(cors.preflight(from('https://a.example', 'POST', ASKING))).toBe(null)
})

test('of a list, only its origins may call, and caches keep them apart', () => {
  const cors = createCors(['https://a.example'])
  expect(cors.headersFor(from('https://a.example'))).toMatchObject({
    'access-control-allow-origin': 'https://a.example',
    vary: 'Origin',
  })
  expect(cors.headersFor(from('https://b.example'))).toEqual({ vary: 'Origin' })
  expect(cors.preflight(from('https://b.example', 'OPTIONS', ASKING))).toEqual({ vary: 'Origin' })
})

test('with an empty list, no origin may call', () => {
  const cors = createCors([])
  expect(cors.headersFor(from('https://a.example'))).toEqual({})
  expect(cors.preflight(from('https://a.example', 'OPTIONS', ASKING))).toBe(null)
})

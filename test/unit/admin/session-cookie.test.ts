import { expect, test } from 'vitest'
import {
  createSessionToken,
  csrfTokenOf,
  formatSessionCookie,
  readSessionToken,
} from '../../../src/admin/session-cookie.ts'

const request = (url: string, headers: Record<string, string> = {}) =>
  new Request(url, { headers: { host: new URL(url).host, ...headers } })
const token = createSessionToken()

test('over https, binds the cookie to the host', () => {
  expect(formatSessionCookie(request('https://proxy.example.org/'), token, 0)).toMatch(
    /^__Host-model_proxy_session=.+; Secure; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
  )
  const behind = request('http://proxy.example.org/', { 'x-forwarded-proto': 'https' })
  expect(formatSessionCookie(behind, token, 1)).toContain('__Host-')
  expect(() => formatSessionCookie(behind, token, 0)).toThrow('HTTPS')
})

test('over plain http, sets the cookie on loopback only', () => {
  for (const host of ['localhost:3000', '127.0.0.1', '127.1.2.3:80', '[::1]:3000']) {
    expect(formatSessionCookie(request(`http://${host}/`), token, 0)).toMatch(/^model_proxy_session=/)
  }
  for (const host of ['localhost.example.org', '10.0.0.1', '127.0.0.1.example.org', 'proxy:3000']) {
    expect(() => formatSessionCookie(request(`http://${host}/`), token, 0)).toThrow('HTTPS')
  }
})

test('reads a token from the bound cookie first, and from the plain cookie on loopback only', () => {
  const other = createSessionToken()
  const cookie = `a=b; model_proxy_session=${other}; __Host-model_proxy_session=${token}`
  expect(readSessionToken(request('http://localhost/', { cookie }))).toBe(token)
  const plain = { cookie: `model_proxy_session=${other}` }
  expect(readSessionToken(request('http://localhost/', plain))).toBe(other)
  expect(readSessionToken(request('http://proxy.example.org/', plain))).toBeNull()
  expect(readSessionToken(request('http://localhost/', { cookie: 'model_proxy_session=short' }))).toBeNull()
  expect(readSessionToken(request('http://localhost/'))).toBeNull()
})

test('clears the cookie on logout', () => {
  expect(formatSessionCookie(request('http://localhost/'), null, 0)).toContain(
    'model_proxy_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
  )
})

test('derives the CSRF token from the session without revealing the session', () => {
  expect(csrfTokenOf(token)).toBe(csrfTokenOf(token))
  expect(csrfTokenOf(token)).not.toBe(csrfTokenOf(createSessionToken()))
  expect(csrfTokenOf(token)).not.toContain(token)
})

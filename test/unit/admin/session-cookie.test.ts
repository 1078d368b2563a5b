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

test('over https the cookie is bound to the host', () => {
  expect(formatSessionCookie(request('https://proxy.example.org/'), token, 0)).toMatch(
    /^__Host-model_proxy_session=.+; Secure; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
  )
  const behind = request('http://proxy.example.org/', { 'x-forwarded-proto': 'https' })
  expect(formatSessionCookie(behind, token, 1)).toContain('__Host-')
  expect(() => formatSessionCookie(behind, token, 0)).toThrow('HTTPS')
})

test('over plain http it is given on loopback alone', () => {
  for (const host of ['localhost:3000', '127.0.0.1', '127.1.2.3:80', '[::1]:3000']) {
    expect(formatSessionCookie(request(`http://${host}/`), token, 0)).toMatch(/^model_proxy_session=/)
  }
  for (const host of ['localhost.example.org', '10.0.0.1', '127.0.0.1.example.org', 'proxy:3000']) {
    expect(() => formatSessionCookie(request(`http://${host}/`), token, 0)).toThrow('HTTPS')
  }
})

test('a token is read from the bound cookie first, and from the plain one on loopback alone', () => {
  const other = createSessionToken()
  const cookie = `a=b; model_proxy_session=${other}; __Host-model_proxy_session=${token}`
  expect(readSessionToken(request('http://localhost/', { cookie }))).toBe(token)
  const plain = { cookie: `model_proxy_session=${other}` }
  expect(readSessionToken(request('http://localhost/', plain))).toBe(other)
  expect(readSessionToken(request('http://proxy.example.org/', plain))).toBeNull()
  expect(readSessionToken(request('http://localhost/', { cookie: 'model_proxy_session=short' }))).toBeNull()
  expect(readSessionToken(request('http://localhost/'))).toBeNull()
})

test('a logout empties the cookie', () => {
  expect(formatSessionCookie(request('http://localhost/'), null, 0)).toContain(
    'model_proxy_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
  )
})

test('the CSRF token is the session’s own, and does not tell it', () => {
  expect(csrfTokenOf(token)).toBe(csrfTokenOf(token))
  expect(csrfTokenOf(token)).not.toBe(csrfTokenOf(createSessionToken()))
  expect(csrfTokenOf(token)).not.toContain(token)
})

import { expect, test } from 'vitest'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'

const PATHS = [
  '/dashboard',
  '/dashboard/login',
  '/dashboard/api/session',
  '/v1/organization/users',
  '/v1/models',
  '/v1/health',
  '/nothing',
]

describeBackends('security headers', backend => {
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: { TRUST_PROXY: '1' } }),
  )
  const unproxied = duringTests(() => startProxy({ dashboard: true, stores: proxy.stores }))

  const HTTPS = { 'x-forwarded-proto': 'https' }
  const headersOf = async (of: TestProxy, path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${of.rootUrl}${path}`, { headers })).headers

  test.each(PATHS)('are on %s', async path => {
    const secure = await headersOf(proxy, path, HTTPS)
    expect(secure.get('x-content-type-options')).toBe('nosniff')
    expect(secure.get('strict-transport-security')).toBe('max-age=31536000')
    // Over plain HTTP, and behind a proxy that is not trusted to report HTTPS.
    expect((await headersOf(proxy, path)).get('strict-transport-security')).toBeNull()
    expect((await headersOf(unproxied, path, HTTPS)).get('strict-transport-security')).toBeNull()
  })

  test('forbid pages features that they do not use', async () => {
    const policy = (await headersOf(proxy, '/dashboard')).get('permissions-policy')
    expect(policy).toContain('camera=()')
    expect(policy).toContain('geolocation=()')
  })
})

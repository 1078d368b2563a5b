/** The root path, for a browser and for programs. */
import { beforeAll, expect, test } from 'vitest'
import { describeEmbedded } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const CHROME = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8'
const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

describeEmbedded('the root path', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: { DASHBOARD: 'on' } }))
  let root: string

  beforeAll(async () => {
    root = new URL(proxy.baseUrl).origin
  })

  function open(path: string, accept: string | undefined, method = 'GET'): Promise<Response> {
    return fetch(`${root}${path}`, { method, headers: accept === undefined ? {} : { accept }, redirect: 'manual' })
  }

  test.each([
    ['/', CHROME],
    ['/', FIREFOX],
    ['/', ' Text/HTML ; q=0.5 , */*;q=0.1'],
    ['/?from=mail', FIREFOX],
    ['/', FIREFOX, 'HEAD'],
  ])('%s redirects to the dashboard (%s)', async (path, accept, method = 'GET') => {
    const response = await open(path, accept, method)
    expect([response.status, response.headers.get('location')]).toEqual([302, '/dashboard'])
    expect(response.headers.get('vary')).toBe('accept')
    expect(await (await fetch(new URL('/dashboard', root))).text()).toContain('<div id="root">')
  })

  test.each([
    ['/', undefined],
    ['/', '*/*'],
    ['/', 'application/json'],
    ['/', 'application/json, text/plain, */*'],
    ['/', 'text/html;q=0, */*'],
    ['/', 'text/html; q=0.000, application/json'],
    ['/', 'text/*'],
    ['/', FIREFOX, 'POST'],
    ['/v1', FIREFOX],
    ['/v1/nothing', FIREFOX],
  ])('%s returns what it always did (%s)', async (path, accept, method = 'GET') => {
    const response = await open(path, accept, method)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })
})

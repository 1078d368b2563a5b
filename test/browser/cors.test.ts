/** A page of another origin that calls the proxy, in a real browser. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, NO_CHROMIUM, openBrowser } from './open-browser.ts'

const title = chromiumPath ? 'pages of another origin' : NO_CHROMIUM

describe.skipIf(!chromiumPath)(title, () => {
  let browser: Browser
  const site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<!doctype html><title>A page</title>', { headers: { 'content-type': 'text/html' } }),
  })

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site.stop(true)
  })

  describeOnce('a web page calls the proxy', backend => {
    const proxy = duringTests(() => startProxy({ stores: backend.open() }))
    const strict = duringTests(() =>
      startProxy({ stores: proxy.stores, environment: { CORS_ORIGINS: 'https://app.example.com' } }),
    )
    let key: string
    let page: Page

    beforeAll(async () => {
      key = await proxy.createKey()
      page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${site.port}/`)
    })
    afterAll(() => page?.close())

    /** Returns the status, headers and text that the page can read, or the error's name. */
    function callFromPage(to: TestProxy, path: string, body: Record<string, unknown> | null, bearer = key) {
      const call = async ({ url, body, bearer }: { url: string; body: string | null; bearer: string }) => {
        try {
          const headers: Record<string, string> = { authorization: `Bearer ${bearer}`, 'x-request-id': 'from-a-page' }
          if (body !== null) headers['content-type'] = 'application/json'
          const response = await fetch(url, { method: body === null ? 'GET' : 'POST', headers, body })
          const readable = Object.fromEntries(response.headers.entries())
          return { status: response.status, headers: readable, text: await response.text() }
        } catch (error) {
          return { status: 0, headers: {} as Record<string, string>, text: error instanceof Error ? error.name : '' }
        }
      }
      return page.evaluate(call, { url: `${to.baseUrl}${path}`, body: body && JSON.stringify(body), bearer })
    }

    const chat = (fields: Record<string, unknown> = {}) => ({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Which browsers are there?' }],
      ...fields,
    })

    test('for a chat completion, with every header of the proxy readable', async () => {
      const { status, headers, text } = await callFromPage(proxy, '/chat/completions', chat())
      expect([status, JSON.parse(text).object]).toEqual([200, 'chat.completion'])
      expect(headers).toMatchObject({
        'x-request-id': 'from-a-page',
        'x-proxy-cache': 'MISS',
        'x-proxy-provider': 'sandbox',
      })
      for (const name of ['cache-age', 'cost-usd', 'latency-ms', 'tokens-saved']) {
        expect(headers).toHaveProperty(`x-proxy-${name}`)
      }
    })

    test('for a stream', async () => {
      const { status, headers, text } = await callFromPage(proxy, '/chat/completions', chat({ stream: true }))
      expect([status, headers['x-proxy-cache']]).toEqual([200, 'HIT'])
      expect(text).toMatch(/^data: .*data: \[DONE\]\n\n$/s)
    })

    test('for the list of models', async () => {
      const { status, text } = await callFromPage(proxy, '/models', null)
      expect([status, JSON.parse(text).object]).toEqual([200, 'list'])
    })

    test('and reads errors from every layer', async () => {
      const refused = await callFromPage(proxy, '/chat/completions', chat(), 'nonsense')
      expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([401, 'invalid_api_key'])
      const nowhere = await callFromPage(proxy, '/nowhere', chat())
      expect([nowhere.status, JSON.parse(nowhere.text).error.code]).toEqual([404, 'not_found'])
    })

    test('and gets nothing if its origin is not allowed', async () => {
      expect(await callFromPage(strict, '/chat/completions', chat())).toEqual({
        status: 0,
        headers: {},
        text: 'TypeError',
      })
      expect(await callFromPage(strict, '/models', null)).toMatchObject({ status: 0 })
    })
  })
})

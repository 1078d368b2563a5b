/** The chat page of examples/, on an origin of its own, in a real browser. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { chromiumPath, NO_CHROMIUM, openBrowser } from '../browser/open-browser.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { ROOT } from '../harness/docs-blocks.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { findCommands } from './start-example.ts'

const missing = chromiumPath ? (Bun.which('python3') ? null : 'skipped: python3 is not installed') : NO_CHROMIUM

describe.skipIf(missing)(missing ?? 'the chat page', () => {
  describeOnce('in chromium', backend => {
    const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
    let proxy: TestProxy
    let strict: TestProxy
    let browser: Browser
    let page: Page
    let key: string

    beforeAll(async () => {
      const port = String(findFreePort())
      const serve = findCommands('chat-page').join('\n').replace('8080', port)
      const options = {
        cwd: ROOT,
        env: bareEnvironment(),
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      } as const
      endAfterFile(Bun.spawn(['bash', '-c', `exec ${serve}`], options))
      const origin = `http://127.0.0.1:${port}`
      await waitUntil('the page is served', () =>
        fetch(origin).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      const environment = { ...upstream.environment, CORS_ORIGINS: origin }
      const stores = await backend.open()
      proxy = await startProxy({ stores, environment })
      strict = await startProxy({ stores, environment: { ...environment, CORS_ORIGINS: 'https://app.example.com' } })
      key = await proxy.createKey({ type: 'project' })
      browser = await openBrowser()
      page = await browser.newPage()
      await page.goto(origin)
    })
    afterAll(async () => {
      await browser?.close()
      await Promise.all([proxy?.stop(), strict?.stop()])
    })

    async function send(to: TestProxy, text: string, bearer = key): Promise<string> {
      await page.getByLabel('Address').fill(to.rootUrl)
      await page.getByLabel('API key').fill(bearer)
      await page.getByLabel('Message').fill(text)
      const before = await page.locator('article .meta').count()
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('article .meta').nth(before).waitFor()
      return (await page.locator('article.assistant').last().textContent()) ?? ''
    }

    test('streams a response, and shows its cache result and cost', async () => {
      upstream.script({ kind: 'answer', content: 'Paris is the capital of France.', chunkPauseMs: 1 })
      expect(await send(proxy, 'What is the capital of France?')).toMatch(
        /^Paris is the capital of France\.\s*MISS · \$0\.0000\d\d$/,
      )
      const body = JSON.parse(upstream.requests.at(-1)?.bodyText ?? '')
      expect([body.stream, body.messages.length]).toEqual([true, 1])
    })

    test('sends the whole conversation', async () => {
      await send(proxy, 'And of Spain?')
      const { messages } = JSON.parse(upstream.requests.at(-1)?.bodyText ?? '')
      expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user'])
    })

    test('shows the error of a wrong key, and that an origin is not allowed', async () => {
      expect(await send(proxy, 'Hello?', 'nonsense')).toContain('Invalid API key')
      expect(await send(strict, 'Hello?')).toContain('does not allow this origin')
    })
  })
})

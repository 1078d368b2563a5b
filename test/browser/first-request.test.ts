/** From an empty project to its first request: each step, and each snippet run as it is copied. The dashboard has its own port. */
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { RUNNERS, runSnippet } from './run-snippet.ts'
import { addAdministrator } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('the first minutes', backend => {
    let browser: Browser
    const upstreams = duringTests(startUpstreams)
    let proxy: TestProxy
    let page: Page
    beforeAll(async () => {
      const [port, dashboard] = [findFreePort(), findFreePort()]
      const environment = { ...upstreams.environment, PORT: String(port), DASHBOARD: String(dashboard) }
      proxy = await startProxy({ stores: await backend.open(), environment })
      await addAdministrator(proxy)
      browser = await openBrowser()
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
      page = await context.newPage()
      await logIn(page, `http://127.0.0.1:${dashboard}`)
    })
    afterAll(() => Promise.all([browser?.close(), proxy?.stop()]))

    /** Copies the snippet of each language and runs it. */
    async function runAll(where: Locator, environment: Record<string, string>): Promise<void> {
      for (const language of Object.keys(RUNNERS)) {
        await where.getByRole('button', { name: language, exact: true }).click()
        const snippet = (await where.locator('pre').textContent()) ?? ''
        await where.getByRole('button', { name: /^(Copy snippet|Copied)$/ }).click()
        await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(snippet)
        const answer = expect.stringMatching(/Hello|gpt-4o-mini/)
        expect([language, await runSnippet(language, snippet, environment)]).toEqual([language, answer])
      }
    }

    test('the steps lead to a key, whose snippets run as they are copied, with the key and later without it', async () => {
      await page.getByRole('button', { name: 'Create project' }).click()
      await page.getByLabel('Name').fill('first')
      await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
      await page.getByRole('link', { name: 'Overview' }).click()
      const steps = page.locator('li').filter({ has: page.getByText(/: (done|to do)$/) })
      await steps.nth(2).waitFor()
      const states = async () => (await steps.allInnerTexts()).map(text => /: (done|to do)/.exec(text)?.[1])
      await expect.poll(states).toEqual(['done', 'to do', 'to do'])
      await steps.nth(1).getByRole('link').click()

      await page.getByRole('button', { name: 'Create API key' }).first().click()
      await page.getByLabel('Name').fill('first')
      await page.getByRole('button', { name: 'Create key' }).click()
      const key = (await page.getByTestId('shown-once').textContent()) ?? ''
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Goes to openrouter.').waitFor()
      await runAll(dialog, { OPENAI_API_KEY: 'not this one' })
      expect(upstreams.aggregator.requests.length).toBeGreaterThan(0)
      await page.getByRole('button', { name: 'Done' }).click()
      await runAll(page.locator('#use'), { OPENAI_API_KEY: key })

      await proxy.settle()
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByText('Cache hit rate').waitFor()
      await expect.poll(() => steps.count()).toBe(0)
    })

    test('provider keys and playground show the route of a model', async () => {
      await page.getByRole('link', { name: 'Provider keys' }).click()
      const groq = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Groq' }) })
      await groq.getByText('are rejected with 404').waitFor()
      await groq.getByRole('button', { name: 'Add key' }).click()
      await page.getByLabel('Key', { exact: true }).fill('gsk_a_secret_of_groq')
      await page.getByRole('dialog').getByRole('button', { name: 'Save key' }).click()
      await groq.getByText(/go to groq$/).waitFor()
      await groq.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByText('are rejected with 404').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()

      await page.getByRole('link', { name: 'Playground' }).click()
      await page.getByLabel('Model').fill('llama-3.1-8b')
      await page.getByRole('option', { name: 'llama-3.1-8b-instant' }).click()
      await page.getByText('Goes to sandbox.').waitFor()
      // The proxy's origin differs from the page's.
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('x-proxy-cache-reason').waitFor()
    })
  })
})

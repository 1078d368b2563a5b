/** An owner on a phone, from an invitation to an export, on each database. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { runSnippet } from './run-snippet.ts'
import { addAdministrator } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const PHONE = { viewport: { width: 320, height: 700 }, acceptDownloads: true, hasTouch: true }
const QUESTION = 'What is the capital of France?'
const POLITE = 'Please, what’s the capital of France?'
/** A spreadsheet that treats it as a formula shows 5555. */
const FORMULA = '=1234+4321'
/** On Debian: apt-get install libreoffice-calc-nogui. Without it, the test only reads the file as text. */
const soffice = Bun.which('soffice')

describe.skipIf(!chromiumPath)(title, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  describeBackends('an owner with a phone', backend => {
    const upstreams = duringTests(startUpstreams)
    const proxy = duringTests(() =>
      startProxy({
        dashboard: true,
        stores: backend.open(),
        environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' },
      }),
    )
    let page: Page
    let snippet: string
    let key: string
    beforeAll(async () => {
      await addAdministrator(proxy)
    })
    afterAll(() => page?.context().close())

    const openPage = async () => (await browser.newContext(PHONE)).newPage()

    /** Accepts an invitation. */
    async function takeUp(link: string): Promise<Page> {
      const guest = await openPage()
      await guest.goto(link)
      await guest.getByLabel('New password').fill('a long enough password')
      await guest.getByRole('button', { name: 'Set password and log in' }).click()
      await guest.getByRole('button', { name: 'Menu' }).waitFor()
      return guest
    }

    async function invite(from: Page, email: string, role: string): Promise<string> {
      await from.getByRole('button', { name: 'Add member' }).first().click()
      await from.getByLabel('E-mail address').fill(email)
      await from.getByRole('dialog').getByLabel('Role').selectOption(role)
      await from.getByRole('dialog').getByRole('button', { name: 'Add member' }).click()
      const link = (await from.getByTestId('shown-once').textContent()) ?? ''
      await from.getByRole('button', { name: 'Done' }).click()
      return link
    }

    /** Opens a page through the menu and checks that it fits the screen. */
    async function go(to: string, of = page): Promise<void> {
      await of.getByRole('button', { name: 'Menu' }).click()
      const pages = of.getByRole('navigation', { name: 'Pages' })
      await pages.getByRole('link', { name: to, exact: true }).click()
      await of.getByRole('heading', { level: 1 }).waitFor()
      await waitForPage(of)
      expect([to, await of.evaluate(OVERFLOW)]).toEqual([to, 0])
    }

    test('accepts an invitation, and invites another user', async () => {
      const root = proxy.rootUrl
      const administrator = await openPage()
      await logIn(administrator, root)
      await administrator.getByRole('button', { name: 'Create project' }).click()
      await administrator.getByLabel('Name').fill('walk')
      await administrator.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
      await administrator.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
      await go('Members', administrator)
      page = await takeUp(await invite(administrator, 'owner@example.org', 'owner'))
      await administrator.context().close()
      await page.getByText('Send a request').waitFor()
      await go('Members')
      const guest = await takeUp(await invite(page, 'viewer@example.org', 'viewer'))
      await go('Playground', guest)
      await guest.getByText('Only members of the project can send requests.').waitFor()
      await go('Limits and budgets', guest)
      await guest.getByText('No budgets').waitFor()
      expect(await guest.getByRole('button', { name: 'Add budget' }).count()).toBe(0)
      await guest.context().close()
      await page.getByRole('button', { name: 'Menu' }).click()
      expect(await page.getByRole('link', { name: 'Users', exact: true }).count()).toBe(0)
      for (const path of ['users', 'projects', 'audit']) {
        await page.goto(`${root}/dashboard/${path}`)
        await page.getByText('Administrators only').waitFor()
      }
      await page.goto(`${root}/dashboard`)
    })

    test('creates a key, and its snippet runs as it is shown', async () => {
      await go('API keys')
      await page.getByRole('button', { name: 'Create API key' }).first().click()
      await page.getByLabel('Name').fill('phone')
      await page.getByRole('button', { name: 'Create key' }).click()
      key = (await page.getByTestId('shown-once').textContent()) ?? ''
      snippet = (await page.getByRole('dialog').locator('pre').textContent()) ?? ''
      expect(await runSnippet('curl', snippet, {})).toContain('"choices"')
      await page.getByRole('button', { name: 'Done' }).click()
      await proxy.settle()
      await go('Overview')
      await page.getByText('Cache hit rate').waitFor()
    })

    test('finds out why an upstream failed', async () => {
      upstreams.aggregator.scriptOnce({ kind: 'error', status: 503, message: 'Overloaded for now' })
      expect(await runSnippet('curl', snippet.replace('Hello', 'Will it fail?'), {})).toContain('"error"')
      await proxy.settle()
      await go('Overview')
      await page.getByRole('link', { name: '1 failed' }).click()
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
      await page.getByRole('link', { name: /responded with 503: Overloaded for now/ }).click()
      await page.getByText('The provider responded with status 503: Overloaded for now').waitFor()
      expect(await page.evaluate(OVERFLOW)).toBe(0)
    })

    test('has a model learn from near misses, after seeing the cost', async () => {
      await go('Cache and models')
      await page.getByText('gpt-4.1-mini can compare the questions').waitFor()
      await page.getByText('The daily budget of $1.00').waitFor()
      await page.getByRole('button', { name: 'Turn on judge' }).click()
      await page.getByRole('button', { name: 'Turn on judge' }).waitFor({ state: 'detached' })
      const [learning] = await proxy.query(
        `select semantic_policy, semantic_judge, semantic_judge_model from projects where name = 'walk'`,
      )
      expect(learning).toEqual({
        semantic_policy: 'judged',
        semantic_judge: 'learn',
        semantic_judge_model: 'gpt-4.1-mini',
      })
    })

    test('corrects a context in which the wording is said to matter', async () => {
      const messages = [
        { role: 'system', content: 'Translate the user’s message into French.' },
        { role: 'user', content: QUESTION },
      ]
      const { headers } = await ask(proxy, key, { model: 'openai/gpt-4o-mini', messages })
      expect(headers.get('x-proxy-cache-reason')).toBe('context')
      await proxy.settle()
      await go('Overview')
      await go('Cache and models')
      await page.getByText(/^1 request, first/).waitFor()
      await page.getByRole('button', { name: 'Wording doesn’t matter here' }).click()
      await page.getByText('Corrected: wording doesn’t matter').waitFor()
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      const [corrected] = await proxy.query<{ listed: string }>(
        `select semantic_contexts::text as listed from projects where name = 'walk'`,
      )
      expect(corrected?.listed).toMatch(/^\{[0-9a-f]{16}=question\}$/)
    })

    test('marks a wrong match', async () => {
      await go('Cache and models')
      await page.getByRole('link', { name: 'Spending and stored data' }).click()
      await page.getByLabel(/^Stored for a week/).check()
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('Saved. Changes apply to the next request.').waitFor()
      await go('Playground')
      await page.getByRole('button', { name: 'Providers', exact: true }).click()
      for (const [words, result] of [
        [QUESTION, 'MISS'],
        [POLITE, 'HIT-SEMANTIC'],
      ]) {
        await page.getByLabel('Message').fill(words ?? '')
        await page.getByRole('button', { name: 'Send', exact: true }).click()
        await page
          .locator('dd')
          .filter({ hasText: new RegExp(`^${result}$`) })
          .waitFor()
        await page.getByRole('button', { name: 'Clear conversations' }).click()
        await proxy.settle()
      }
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      await go('Cache')
      await page.getByRole('button', { name: 'Mark as wrong' }).click()
      await page.getByText('Marked wrong').waitFor()
      expect((await ask(proxy, key, POLITE, { 'x-proxy-cache-ttl': '0' })).headers.get('x-proxy-cache')).toBe('MISS')
    })

    test('finds a cached response by its question, and reads it', async () => {
      await page.getByRole('link', { name: 'Cached responses', exact: true }).click()
      await page.getByLabel('Search questions').fill('CAPITAL of')
      await page.getByLabel('Search questions').press('Enter')
      await page.getByRole('button', { name: QUESTION }).click()
      await page.getByRole('dialog').getByText('Response', { exact: true }).waitFor()
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      await page.getByRole('button', { name: 'Close' }).click()
      await page.goBack()
      await page.getByRole('button', { name: 'View', exact: true }).first().waitFor()
    })

    test('sets a budget, exhausts it, and finds the rejected request', async () => {
      await go('Limits and budgets')
      await page.getByRole('button', { name: 'Add budget' }).click()
      await page.getByRole('dialog').getByLabel('Amount').fill('0.000001')
      await page.getByRole('dialog').getByRole('button', { name: 'Add budget' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await runSnippet('curl', snippet.replace('Hello', 'One more?'), {})).toContain('Budget exceeded')
      await proxy.settle()
      await go('Requests')
      const cards = page.locator('main li a[href*="/requests/"]')
      await page.getByRole('link', { name: 'Failed', exact: true }).click()
      await cards.filter({ hasText: '429' }).click()
      await page.getByText('Rejected with 429 before any provider was called.').waitFor()
      await page.goBack()
      await cards.filter({ hasText: '503' }).waitFor()
      expect(page.url()).toContain('outcome=failed')
    })

    test('opens an export in a spreadsheet, which evaluates nothing in it', async () => {
      await ask(proxy, key, question('Hello', { user: FORMULA }))
      await proxy.settle()
      await go('Requests')
      await page.locator('main li a[href*="/requests/"]').nth(5).waitFor()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      const folder = mkdtempSync(join(tmpdir(), 'export-'))
      const [csv, converted] = [join(folder, 'requests.csv'), join(folder, 'opened', 'requests.csv')]
      writeFileSync(csv, readFileSync(await file.path()))
      const text = readFileSync(csv, 'utf8')
      expect(text).toContain(`"'${FORMULA}"`)
      expect(text.split(/[,\r\n]+/).filter(cell => /^"?[=+@-]/.test(cell))).toEqual([])
      if (!soffice) return
      const profile = `-env:UserInstallation=file://${folder}/profile`
      const filter = ['--convert-to', 'csv:Text - txt - csv (StarCalc):44,34,76,1', '--outdir', join(folder, 'opened')]
      const { exitCode } = Bun.spawnSync([soffice, profile, '--headless', ...filter, csv], { timeout: 90_000 })
      expect(exitCode).toBe(0)
      const opened = readFileSync(converted, 'utf8')
      expect(opened).toContain(FORMULA)
      expect(opened).not.toMatch(/\b5555\b/)
    })
  })
})

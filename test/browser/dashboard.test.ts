import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lazily } from '../../src/cache/text/packed-model.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, pagesOf, submitLogin, waitForPage } from './open-browser.ts'
import { addAdministrator, seedMatches, seedUsage } from './seed.ts'

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const MARKUP = `<img src=x onerror="document.title='owned'"><b>bold</b>`

const QUESTION = 'What is the capital of France?'
const POLITE = 'Please, what’s the capital of France?'
const OTHER_WORDS = 'What is the old capital of France?'

const WIDE = { width: 1280, height: 900 }
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/** Returns serious and critical violations that axe finds. `rules` restricts the rules. */
async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) }
  // Passed as text through the debugger, to which the page's content security policy does not apply.
  const { violations } = await page.evaluate<{ violations: Violation[] }>(`axe.run(${JSON.stringify(options)})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
}

/**
 * Checks one page in light, dark and phone appearance. The DOM is the same in each, so that dark and phone run only the rules that depend
 * on them.
 */
async function lookAt(page: Page, name: string): Promise<void> {
  await page.evaluate(axeSource)
  expect([name, 'light', await findBarriers(page)]).toEqual([name, 'light', []])
  expect([name, await page.evaluate<number>(OVERFLOW)]).toEqual([name, 0])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect([name, 'dark', await findBarriers(page, ['color-contrast'])]).toEqual([name, 'dark', []])
  await page.setViewportSize({ width: 390, height: 844 })
  const narrow = ['target-size', 'scrollable-region-focusable']
  expect([name, 'phone', await findBarriers(page, narrow)]).toEqual([name, 'phone', []])
  expect([name, await page.evaluate<number>(OVERFLOW)]).toEqual([name, 0])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(WIDE)
}

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM

describe.skipIf(!chromiumPath)(title, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  // The tests of the admin API check the data of the pages on each database.
  describeOnce('the dashboard', backend => {
    const upstreams = duringTests(startUpstreams)
    const proxy = duringTests(() =>
      startProxy({ dashboard: true, stores: backend.open(), environment: upstreams.environment }),
    )
    let root: string
    const seeds = lazily(async () => {
      const seeded = await seedUsage(proxy)
      await seedMatches(proxy, seeded)
      return seeded
    })
    beforeAll(async () => {
      root = proxy.rootUrl
      await addAdministrator(proxy)
    })

    async function openPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
      const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options })
      return context.newPage()
    }

    test('shows a key’s whole life: from the first login to the rejected request', async () => {
      const page = await openPage()
      const errors: string[] = []
      page.on('pageerror', error => errors.push(error.message))
      await logIn(page, root)

      await page.getByRole('button', { name: 'Create project' }).click()
      await page.getByLabel('Name').fill('walk')
      await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
      await page.getByRole('button', { name: 'Create API key' }).first().click()
      await page.getByLabel('Name').fill(MARKUP)
      await page.getByLabel('Type').selectOption('test')
      await page.getByRole('button', { name: 'Create key' }).click()
      const key = (await page.getByTestId('shown-once').textContent()) ?? ''
      expect(key).toMatch(/^lgw_test_[0-9A-Za-z]{32}$/)
      // A key that is shown once must not disappear by mistake: neither by Escape nor by a click beside the dialog.
      for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
      await page.mouse.click(2, 2)
      await page.keyboard.press('Escape')
      await page.evaluate('history.back()')
      await page.waitForTimeout(500)
      expect(await page.getByTestId('shown-once').textContent()).toBe(key)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText(MARKUP).waitFor()
      expect(await page.content()).not.toContain(key)

      const client = new OpenAI({ apiKey: key, baseURL: proxy.baseUrl, maxRetries: 0 })
      /** Returns X-Proxy-Cache. Responses to `passing` prompts are not stored. */
      async function askFor(content: string, passing = false): Promise<string | null> {
        const headers: Record<string, string> = passing ? { 'x-proxy-cache-ttl': '0' } : {}
        const { response } = await client.chat.completions
          .create({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }, { headers })
          .withResponse()
        await proxy.settle()
        return response.headers.get('x-proxy-cache')
      }

      await page.getByRole('link', { name: 'Cache', exact: true }).click()
      await page.getByText('Question text is not stored.').waitFor()
      await page.getByRole('link', { name: 'View settings' }).click()
      await page.getByLabel('Similarity threshold').fill('0.5')
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('Saved. Changes apply to the next request.').waitFor()
      await page.getByRole('link', { name: 'Spending and stored data' }).click()
      await page.getByLabel(/^Stored for a week/).check()
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('Saved. Changes apply to the next request.').waitFor()

      await page.getByRole('link', { name: 'Requests', exact: true }).click()
      await page.getByText('No requests yet').waitFor()
      expect(await askFor(QUESTION)).toBe('MISS')
      // The page is not reloaded. It shows the request automatically.
      await page.getByRole('row').filter({ hasText: 'Miss' }).waitFor()
      expect([await askFor(QUESTION), await askFor(POLITE)]).toEqual(['HIT', 'HIT-SEMANTIC'])
      await page.getByRole('row').filter({ hasText: 'Semantic hit' }).waitFor()
      await page.getByRole('row').filter({ hasText: 'Miss' }).getByRole('link').click()
      await page.getByText('Forwarded to sandbox').waitFor()

      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByText('Requests with test keys are included').waitFor()
      await page.getByText('1 exact, 1 semantic').waitFor()
      await page.getByLabel('Period').selectOption('own')
      await page.getByText('1 exact, 1 semantic').waitFor()
      await page.getByLabel('To', { exact: true }).fill('2026-01-01T00:00')
      await page.getByText('No requests in this period').waitFor()

      await page.getByRole('link', { name: 'Cache', exact: true }).click()
      await page.locator('mark').filter({ hasText: 'Please' }).waitFor()
      await page.getByRole('button', { name: 'Mark as wrong' }).click()
      await page.getByText('Marked wrong').waitFor()
      expect(await askFor(POLITE, true)).toBe('MISS')
      expect(await askFor(OTHER_WORDS, true)).toBe('MISS')
      await page.getByRole('link', { name: 'Near misses' }).click()
      await page.getByText('Not served: additional words').waitFor()
      await page.getByRole('button', { name: 'Same meaning' }).click()
      await page.getByText('Marked same').waitFor()
      expect(await askFor(OTHER_WORDS, true)).toBe('HIT-SEMANTIC')
      await page.getByRole('link', { name: 'Threshold simulation' }).click()
      await page.getByRole('slider', { name: 'Threshold' }).fill('0.99')
      await page.locator('output').filter({ hasText: '0.99' }).waitFor()

      await page.getByRole('link', { name: 'Cached responses' }).click()
      await page.getByRole('button', { name: 'Purge cache' }).click()
      await page.getByText('1 cached response matches. Nothing has been deleted yet.').waitFor()
      await page.getByRole('button', { name: 'Delete 1 cached response' }).click()
      await page.getByText('No cached responses yet').waitFor()

      await page.getByRole('link', { name: 'Playground' }).click()
      await page.getByLabel('Message').fill(QUESTION)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('No cached question is comparable.').waitFor()
      await page.getByText('x-proxy-cache-reason').waitFor()
      await page.getByRole('button', { name: 'Clear conversations' }).click()
      await page.getByLabel('Message').fill(POLITE)
      await page.getByLabel('Stream the response').uncheck()
      await page.getByRole('button', { name: 'Send' }).click()
      await page
        .locator('dd')
        .filter({ hasText: /^HIT-SEMANTIC$/ })
        .waitFor()
      await page.locator('mark').filter({ hasText: 'Please' }).waitFor()

      await page.getByRole('link', { name: 'Provider keys' }).click()
      await page.getByRole('button', { name: 'Add key for Groq' }).click()
      await page.getByLabel('Key', { exact: true }).fill('gsk_a_secret_of_groq')
      await page.getByRole('button', { name: 'Save key', exact: true }).click()
      await page.getByText('…groq').waitFor()

      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('button', { name: 'Create API key' }).first().click()
      await page.getByLabel('Name').fill('its successor')
      await page.getByLabel('Type').selectOption('project')
      await page.getByRole('button', { name: 'Create key' }).click()
      const successor = (await page.getByTestId('shown-once').textContent()) ?? ''
      await page.getByRole('button', { name: 'Done' }).click()
      const direct = await ask(proxy, successor, { ...question('hello'), model: 'llama-3.1-8b-instant' })
      expect([direct.status, direct.headers.get('x-proxy-provider')]).toEqual([200, 'groq'])
      expect(upstreams.groq.requests.at(-1)?.headers.authorization).toBe('Bearer gsk_a_secret_of_groq')

      await page.getByRole('link', { name: 'Members' }).click()
      await page.getByRole('button', { name: 'Add member' }).first().click()
      await page.getByLabel('E-mail address').fill('viewer@example.org')
      await page.getByRole('dialog').getByRole('button', { name: 'Add member' }).click()
      const invitation = (await page.locator('output').textContent()) ?? ''
      await page.getByRole('button', { name: 'Done' }).click()

      await page.getByRole('link', { name: 'API keys' }).click()
      const former = page.getByRole('row').filter({ hasText: MARKUP })
      await former.getByRole('button', { name: /^Deactivate/ }).click()
      await page.getByRole('button', { name: 'Deactivate key' }).click()
      await former.waitFor({ state: 'detached' })
      expect((await ask(proxy, key, 'hello')).status).toBe(403)
      expect((await ask(proxy, successor, { ...question('hello'), model: 'llama-3.1-8b-instant' })).status).toBe(200)

      await page.getByRole('link', { name: 'Audit log', exact: true }).click()
      await page.getByRole('row').filter({ hasText: 'deactivated the key' }).first().waitFor()
      expect(await page.title()).not.toContain('owned')
      expect(errors).toEqual([])

      const guest = await openPage()
      await guest.goto(invitation)
      await guest.getByLabel('New password').fill('a long enough password')
      await guest.getByRole('button', { name: 'Set password and log in' }).click()
      await guest.getByRole('navigation', { name: 'Pages' }).waitFor()
      await guest.getByRole('link', { name: 'API keys' }).click()
      await guest.getByRole('row').filter({ hasText: 'its successor' }).first().waitFor()
      expect(await guest.getByRole('button', { name: 'Create API key' }).count()).toBe(0)
      expect(await guest.getByRole('link', { name: 'Organization' }).count()).toBe(0)
      await guest.getByRole('button', { name: 'Log out' }).click()
      await guest.getByLabel('Password').waitFor()
      await guest.context().close()
      await page.context().close()
    })

    test('limits and rotates a key', async () => {
      const page = await openPage()
      await logIn(page, root)
      await proxy.createKey({ project: 'limits' })
      const [{ id } = { id: '' }] = await proxy.query<{ id: string }>(
        `select id::text from projects where name = 'limits'`,
      )
      await page.goto(`${root}/dashboard/proj_${id}/overview`)
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('button', { name: /^Edit limits / }).click()
      await page.getByLabel('Requests per minute').fill('12')
      await page.getByLabel('Models').fill('gpt-4o*, openai/*')
      await page.getByLabel('Addresses').fill('10.0.0.1/8')
      await page.getByRole('button', { name: 'Save limits' }).click()
      await page.getByText('without host bits').waitFor()
      await page.getByLabel('Addresses').fill('10.0.0.0/8')
      await page.getByRole('button', { name: 'Save limits' }).click()
      await page.getByText('12 requests/min, gpt-4o*, openai/*, 10.0.0.0/8').waitFor()
      await page.getByRole('button', { name: /^Rotate / }).click()
      await page.getByLabel('Current value').selectOption('3600')
      await page.getByRole('button', { name: 'Rotate key' }).click()
      expect(await page.getByTestId('shown-once').textContent()).toMatch(/^lgw_test_[0-9A-Za-z]{32}$/)
      await page.getByRole('button', { name: 'Done' }).click()
      const former = page.getByRole('row').filter({ hasText: '(lgw_test_' })
      await former.waitFor()
      expect(await former.getByRole('button').allTextContents()).toEqual(['Deactivate'])
      await page.context().close()
    })

    test('finds an end user, exports its data to a file, and deletes it', async () => {
      const [user, other] = [`${MARKUP}${'x'.repeat(200)}`, 'bob']
      const key = await proxy.createKey({ project: 'people', type: 'test' })
      for (const asking of [user, other]) await ask(proxy, key, { ...question(`For ${asking}`), user: asking })
      await proxy.settle()
      const [{ id } = { id: '' }] = await proxy.query<{ id: string }>(`select find_project('people')::text as id`)
      const page = await openPage()
      await logIn(page, root)
      await page.goto(`${root}/dashboard/proj_${id}/overview`)
      await page.getByRole('list', { name: 'Monitor' }).getByRole('link', { name: 'End users' }).click()
      await page.getByText('No end users in this period').waitFor()
      const search = page.getByLabel('Name contains')
      await search.fill(user)
      await search.blur()
      // A long name is listed in its shortened form, so the search finds it by its whole name only as stored data.
      await page.getByRole('button', { name: 'Show stored data' }).click()
      await page.getByRole('row').filter({ hasText: 'Request records' }).waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await search.fill('')
      await search.blur()
      await page.getByLabel('Include test keys').check()
      const stored = (name: string) =>
        page
          .getByRole('row')
          .filter({ hasText: name })
          .getByRole('button', { name: /^Stored data of/ })
      await stored('xxx').click()
      await page.getByRole('row').filter({ hasText: 'Request records' }).waitFor()
      await lookAt(page, 'an end user')
      expect(page.url()).not.toContain('xxx')

      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export JSON' }).click()
      const items = JSON.parse(readFileSync(await (await saved).path(), 'utf8'))
      const kinds: string[] = items.map(({ kind }: { kind: string }) => kind)
      expect([...new Set(kinds)].filter(kind => kind !== 'sum')).toEqual(['answer', 'record'])

      await page.getByRole('button', { name: 'Delete data' }).click()
      await lookAt(page, 'forgetting an end user')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('row').filter({ hasText: 'Request records' }).waitFor()
      await page.getByRole('button', { name: 'Delete data' }).click()
      await page.getByRole('button', { name: 'Delete permanently' }).click()
      await page.getByText('No data stored for this end user').waitFor()
      await page.getByRole('row').filter({ hasText: 'xxx' }).waitFor({ state: 'detached' })
      await stored(other).click()
      await page.getByRole('row').filter({ hasText: 'Request records' }).waitFor()

      await page.getByRole('link', { name: 'Cache', exact: true }).click()
      await page.getByRole('button', { name: 'Purge cache' }).click()
      await page.getByLabel('End user').fill(other)
      await page.getByLabel('End user').press('Enter')
      await lookAt(page, 'a purge')
      await page.getByRole('button', { name: 'Delete 1 cached response' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await proxy.query(`select from cache_entries where project_id = ${id}`)).toEqual([])
      await page.context().close()
    })

    test('every page is accessible, light, dark and on a phone, and loads nothing from other hosts', async () => {
      const seeded = await seeds()
      const page = await openPage({ colorScheme: 'light' })
      const foreign: string[] = []
      const refused: string[] = []
      page.on('request', request => {
        if (!request.url().startsWith(`${root}/`) && !request.url().startsWith('data:')) foreign.push(request.url())
      })
      page.on('console', message => {
        if (/Content Security Policy|Trusted/i.test(message.text())) refused.push(message.text())
      })
      await page.goto(`${root}/dashboard`)
      await page.getByLabel('Password').waitFor()
      await lookAt(page, 'login')
      await logIn(page, root)
      for (const [name, path] of pagesOf(seeded.project)) {
        await page.goto(`${root}/dashboard${path}`)
        await waitForPage(page)
        await lookAt(page, name)
      }
      expect([foreign, refused]).toEqual([[], []])
      await page.context().close()
    }, 600_000)

    test('the pages are small, compressed, and allow no foreign script', async () => {
      const document = await fetch(`${root}/dashboard/any/address`)
      const policy = document.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
      expect(policy).not.toContain('unsafe')
      expect(await document.text()).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style/)
      const seeded = await seeds()
      const [made] = await proxy.query<{ id: number }>(`select create_project('first-load', 'free') as id`)
      // All transfers from an empty cache to the first page after the login, with all that a page with requests shows, and without.
      for (const [project, shown] of [
        [seeded.project, 'Paid again'],
        [`proj_${made?.id}`, 'No requests in this period'],
      ]) {
        const page = await openPage()
        const files = new Set<string>()
        page.on('request', request => {
          const { pathname } = new URL(request.url())
          if (/^\/dashboard(?!\/api\/)/.test(pathname)) files.add(pathname)
        })
        await page.goto(`${root}/dashboard/${project}/overview`)
        await submitLogin(page)
        await page.getByText(String(shown)).first().waitFor()
        await page.waitForLoadState('networkidle')
        await page.context().close()
        expect(files.size).toBeGreaterThan(4)
        const bytes = { br: 0, gzip: 0 }
        for (const path of files) {
          for (const encoding of ['br', 'gzip'] as const) {
            const file = await fetch(`${root}${path}`, { headers: { 'accept-encoding': encoding }, decompress: false })
            expect([path, file.status, file.headers.get('content-encoding')]).toEqual([path, 200, encoding])
            expect(file.headers.get('cache-control')).toContain(/\.\w+$/.test(path) ? 'immutable' : 'no-cache')
            bytes[encoding] += (await file.arrayBuffer()).byteLength
          }
        }
        expect(bytes.br).toBeLessThan(120_000)
        expect(bytes.gzip).toBeLessThan(150_000)
      }
      const plain = await fetch(`${root}/dashboard`, { headers: { 'accept-encoding': 'identity' }, decompress: false })
      expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([
        null,
        expect.stringContaining('root'),
      ])
      expect((await fetch(`${root}/dashboard/nothing-here.js`)).status).toBe(404)
      expect((await fetch(`${root}/dashboard/api/nothing`)).status).toBe(404)
    })
  })
})

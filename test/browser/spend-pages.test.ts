/** Sessions, end users and the organization: each number is that of the records, and links to exactly these. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeOnce } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { addAdministrator } from './seed.ts'

const PHONE = { width: 320, height: 700 }
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const DESKTOP = { width: 1280, height: 900 }

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('spend', backend => {
    let browser: Browser
    const proxy = duringTests(() => startProxy({ stores: backend.open(), dashboard: true }))
    let page: Page
    let root: string
    const projects: number[] = []

    beforeAll(async () => {
      await addAdministrator(proxy)
      const records: UsageRecord[] = []
      for (const [at, name] of ['small', 'large'].entries()) {
        const [made] = await proxy.query<{ id: number }>(`select create_project('${name}', 'pro')::integer as id`)
        const [key] = await proxy.query<{ id: number }>(
          `select id::integer from create_api_key('${name}', 'project', 'key', null)`,
        )
        projects.push(made?.id ?? 0)
        for (let n = 0; n < 6 * (at + 1); n++) records.push(recordOf(made?.id ?? 0, key?.id ?? 0, n))
      }
      await recordUsage(proxy.stores.database, records, crypto.randomUUID())
      root = proxy.rootUrl
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      await page.setViewportSize(DESKTOP)
      await logIn(page, root)
    })
    afterAll(() => browser?.close())

    /** Of six records, three belong to a session that reads the prompt cache, two to one that never does, one to none. */
    function recordOf(project: number, key: number, n: number): UsageRecord {
      const kind = n % 6
      const session = kind < 3 ? 'reading' : kind < 5 ? 'writing' : null
      return {
        recorded_at: new Date(Date.now() - (20 - n) * 60_000).toISOString(),
        request_id: `r${n}`,
        project_id: project,
        key_id: key,
        endpoint: 'messages',
        model: kind === 1 ? 'claude-haiku-4-5' : 'claude-sonnet-4-5',
        provider: 'anthropic',
        cache_result: kind === 5 ? 'HIT' : 'MISS',
        status: kind === 4 ? 429 : 200,
        streamed: true,
        ...{ prompt_tokens: 1_000, cached_prompt_tokens: kind < 3 ? 900 : 0, completion_tokens: 100, tokens_saved: 0 },
        ...{ cost_usd: kind === 5 ? 0 : 0.5, saved_usd: kind === 5 ? 0.25 : 0, latency_ms: 10, duration_ms: 2_000 },
        end_user: kind === 5 ? null : kind < 3 ? 'alice' : 'bob',
        session,
        cache_write_tokens: session === null ? null : 100,
        prompt_cache_saved_usd: kind < 3 ? 0.25 : session === null ? null : -0.125,
      }
    }

    const open = async (path: string) => {
      await page.goto(`${root}/dashboard${path}`)
      await waitForPage(page)
    }
    const cells = async (name: string) => {
      const row = page.locator('tbody tr').filter({ hasText: name })
      await row.waitFor()
      return row.locator('td').allTextContents()
    }
    /** Follows the link of a number of requests and counts the listed requests. */
    async function follow(row: string, link: string): Promise<number> {
      await page.locator('tbody tr').filter({ hasText: row }).getByRole('link', { name: link, exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
      await waitForPage(page)
      const listed = page.getByRole('region', { name: 'Requests' }).locator('tbody tr')
      await listed.first().waitFor()
      return listed.count()
    }
    async function checkPhone(): Promise<void> {
      await page.setViewportSize(PHONE)
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      await page.setViewportSize(DESKTOP)
    }

    test('the sessions page shows what each session cost, and warns of one that never read the prompt cache', async () => {
      const home = `/proj_${projects[1]}/sessions`
      await open(home)
      const figures = (texts: string[]) => [texts[3], ...texts.slice(6)]
      expect(figures(await cells('reading'))).toEqual([
        ...['6', '6,600', '$3.00', '5,400 read600 written', '$1.50', '0'],
      ])
      expect(figures(await cells('writing'))).toEqual([...['4', '4,400', '$2.00', '0 read400 written', '-$0.50', '0']])
      // The last response of the session must be older than five minutes.
      await page.getByText(/1 session paid \$0\.50 more/).waitFor()
      await page.getByRole('button', { name: 'Show them' }).click()
      await page.locator('tbody tr').filter({ hasText: 'reading' }).waitFor({ state: 'detached' })
      await checkPhone()
      expect(await follow('writing', '4')).toBe(4)
      await open(home)
      expect(await follow('reading', '6')).toBe(6)
    })

    test('the end users page lists them by cost, and is searched', async () => {
      const home = `/proj_${projects[1]}/end-users`
      await open(home)
      expect((await cells('alice')).slice(0, 7)).toEqual(['alice', '6', '0', '6,600', '$3.00', '$0.00', '0%'])
      expect((await cells('bob')).slice(0, 7)).toEqual(['bob', '4', '2', '4,400', '$2.00', '$0.00', '0%'])
      expect(await page.locator('tbody tr').first().textContent()).toContain('alice')
      await checkPhone()
      expect(await follow('bob', '2')).toBe(2)
      await open(home)
      await page.getByLabel('Name contains').fill('BO')
      await page.getByLabel('Name contains').blur()
      await page.locator('tbody tr').filter({ hasText: 'alice' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Sessions of bob' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor()
      await cells('writing')
      expect(await page.locator('tbody tr').count()).toBe(1)
    })

    test('the organization page compares projects, and its numbers open the project with the same period', async () => {
      await open('/projects?span=week')
      const rows = page.getByRole('region', { name: 'Projects' }).locator('tbody tr')
      await rows.first().filter({ hasText: 'large' }).waitFor()
      const figures = (texts: string[]) => texts.filter((_, at) => [1, 2, 4, 5, 6, 7].includes(at))
      expect(figures(await cells('large'))).toEqual(['$5.00', '–', '$0.50', '16.7%', '12', '16.7%'])
      expect(figures(await cells('small'))).toEqual(['$2.50', '–', '$0.25', '16.7%', '6', '16.7%'])
      await checkPhone()
      expect(await follow('small', '6')).toBe(6)
      await open('/projects?span=week')
      await page.locator('tbody tr').filter({ hasText: 'small' }).getByRole('link', { name: '$2.50' }).click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(new URL(page.url()).searchParams.get('span')).toBe('week')
      await page.getByText('$2.50').first().waitFor()
    })
  })
})

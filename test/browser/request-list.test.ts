/** The list of requests: filters, views, columns, the preview, cards on phones, and what polling transfers. */
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeOnce } from '../harness/backends.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { findViolations } from './find-violations.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { addAdministrator, type Seeded, seedUsage } from './seed.ts'

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const title = chromiumPath ? 'in chromium' : NO_CHROMIUM

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('the list of requests', backend => {
    let browser: Browser
    let proxy: TestProxy
    let root: string
    let seeded: Seeded
    let page: Page
    beforeAll(async () => {
      const stores = await backend.open()
      proxy = await startProxy({ dashboard: true, stores })
      root = proxy.rootUrl
      await addAdministrator(proxy)
      seeded = await seedUsage(proxy)
      // Recent requests, newest first: a rate limit, a failed provider, a miss, and one that is a year old.
      await record({ request_id: 'limited', status: 429, error_code: 'rate_limit_exceeded', provider: null }, 10)
      const failed = { status: 502, attempts: 2, upstream_status: 503, upstream_message: 'Overloaded' }
      await record({ request_id: 'failed', ...failed, end_user: 'mallory', cache_result: 'MISS' }, 20)
      await record({ request_id: 'missed', cache_result: 'MISS', cache_reason: 'below-threshold' }, 30)
      await record({ request_id: 'ancient' }, 300 * 86_400)
      browser = await openBrowser()
      page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
      await logIn(page, root)
    })
    afterAll(() => Promise.all([browser?.close(), proxy?.stop()]))

    async function record(fields: Partial<UsageRecord> & { request_id: string }, secondsAgo: number): Promise<void> {
      const [key] = await proxy.query<{ id: number }>(
        `select id::integer as id from api_keys where name = 'production' limit 1`,
      )
      const usage: UsageRecord = {
        recorded_at: new Date(Date.now() - secondsAgo * 1_000).toISOString(),
        project_id: Number(seeded.project.slice(5)),
        key_id: key?.id ?? 0,
        ...{ endpoint: 'chat', model: 'model-of-the-test', provider: 'openai', cache_result: null, status: 200 },
        ...{ error_code: null, streamed: false, prompt_tokens: 1, cached_prompt_tokens: 0, completion_tokens: 1 },
        ...{ tokens_saved: 0, cost_usd: 0, saved_usd: 0, latency_ms: 10, duration_ms: 20 },
        ...fields,
      }
      await recordUsage(proxy.stores.database, [usage], crypto.randomUUID())
    }

    const row = (at: number) => page.getByRole('row').nth(at)
    const preview = () => page.getByRole('region', { name: 'Preview' })
    const openList = async (query = '') => {
      await page.goto(`${root}/dashboard/${seeded.project}/requests${query}`)
      await row(1).waitFor()
    }

    test('filters are chosen by keyboard from the values that occur, shown as chips, changed and removed', async () => {
      await openList()
      await page.getByRole('button', { name: 'Filter', exact: true }).press('Enter')
      await page.keyboard.type('End u')
      await page.keyboard.press('Enter')
      const values = page.getByRole('listbox', { name: 'End user' })
      await values.getByRole('option', { name: 'mallory' }).waitFor()
      expect(await findViolations(page)).toEqual([])
      await page.keyboard.type('mall')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.getByRole('row').count()).toBe(2)
      await row(1).getByText('openai responded with 503: Overloaded').waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toContain('Filter')
      const chips = page.getByRole('list', { name: 'Active filters' })
      expect(await chips.getByRole('listitem').allTextContents()).toEqual(['End user mallory×'])
      // A value that does not occur cannot be chosen, except for free text.
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('option', { name: 'Provider', exact: false }).first().click()
      await page.getByRole('combobox', { name: 'Provider: search values' }).fill('nobody')
      await page.getByText('Nothing matches in this period.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('listbox', { name: 'Filters' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('listbox', { name: 'Filters' }).waitFor({ state: 'detached' })
      await chips.getByRole('button', { name: 'End user mallory', exact: true }).click()
      await page.getByRole('combobox', { name: 'End user: search values' }).fill('somebody else')
      await page.keyboard.press('Enter')
      await page.getByText('No matching requests').waitFor()
      await page.getByRole('button', { name: 'Remove the filter End user somebody else' }).click()
      await row(2).waitFor()
      expect(new URL(page.url()).search).toBe('')
    })

    test.each([
      ['Rate limited', 'outcome=client_error'],
      ['openai responded with 503: Overloaded', 'outcome=server_error&model_name=model-of-the-test'],
      ['No cached question is similar enough.', 'result=MISS&outcome=ok&model_name=model-of-the-test'],
    ])('the row says why: %s', async (reason, query) => {
      await openList(`?${query}`)
      await row(1).getByText(reason).waitFor()
    })

    test('a request is found by its id at any age, whatever was filtered before', async () => {
      await openList('?span=hour&outcome=failed')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.keyboard.type('ancient')
      await page.getByRole('option', { name: 'Request ID “ancient”' }).click()
      await row(1).getByText('model-of-the-test').waitFor()
      expect(await page.getByRole('row').count()).toBe(2)
      expect(new URL(page.url()).searchParams.get('outcome')).toBeNull()
      await page.goto(`${root}/dashboard/${seeded.project}/requests?request=nothing`)
      await page.getByText('No request has this ID').waitFor()
    })

    test('arrow keys move the preview, Escape closes it, and Enter opens the request', async () => {
      await openList('?model_name=model-of-the-test')
      await page.getByRole('region', { name: 'Requests' }).focus()
      await page.keyboard.press('ArrowDown')
      await preview().getByText('limited', { exact: true }).waitFor()
      await page.keyboard.press('ArrowDown')
      await preview().getByText('failed', { exact: true }).waitFor()
      expect(await findViolations(page)).toEqual([])
      await page.keyboard.press('ArrowUp')
      await preview().getByText('limited', { exact: true }).waitFor()
      expect(await row(1).getAttribute('aria-current')).toBe('true')
      await page.keyboard.press('Escape')
      await preview().waitFor({ state: 'detached' })
      await row(2).getByText('openai responded').click()
      await preview().getByText('failed', { exact: true }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Request details' }).waitFor()
      await page.getByText('The provider responded with status 503: Overloaded').waitFor()
    })

    test('headers sort where the server has an index, and chosen columns are remembered', async () => {
      await openList()
      const header = (name: string) => page.getByRole('columnheader', { name })
      const sortable = await page.getByRole('columnheader').getByRole('button').allTextContents()
      expect(sortable.map(text => text.replace(/\W/g, ''))).toEqual(['Time', 'Cost', 'Duration'])
      await header('Cost').getByRole('button').click()
      await page.getByText('Only requests with a cost are listed.').waitFor()
      expect(await header('Cost').getAttribute('aria-sort')).toBe('descending')
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('checkbox', { name: 'End user' }).check()
      await page.getByRole('checkbox', { name: 'API key' }).uncheck()
      await page.reload()
      await header('End user').waitFor()
      expect(await header('API key').count()).toBe(0)
    })

    test('a view is saved under a name for its project, opened and deleted', async () => {
      await openList('?outcome=failed&model_name=model-of-the-test')
      const views = page.getByRole('navigation', { name: 'Views' })
      await views.getByRole('button', { name: 'Save view' }).click()
      await page.getByLabel('Name').fill('Broken')
      await page.keyboard.press('Enter')
      await views.getByRole('link', { name: 'Broken' }).waitFor()
      await openList()
      await views.getByRole('link', { name: 'Broken' }).click()
      await expect.poll(() => page.getByRole('row').count()).toBe(3)
      expect(await views.getByRole('link', { name: 'Broken' }).getAttribute('aria-current')).toBe('page')
      const [other] = await proxy.query<{ id: string }>(
        `select 'proj_' || id as id from projects where name = 'internal-tools'`,
      )
      await page.goto(`${root}/dashboard/${other?.id}/requests`)
      await views.getByRole('link', { name: 'Failed' }).waitFor()
      expect(await views.getByRole('link', { name: 'Broken' }).count()).toBe(0)
      await page.goBack()
      await views.getByRole('button', { name: 'Delete the view Broken' }).click()
      await views.getByRole('link', { name: 'Broken' }).waitFor({ state: 'detached' })
    })

    test('on a phone each request is a card that opens it, and nothing overflows', async () => {
      await page.setViewportSize({ width: 320, height: 700 })
      await page.goto(`${root}/dashboard/${seeded.project}/requests?outcome=failed&model_name=model-of-the-test`)
      const cards = page.getByRole('list', { name: 'Requests' }).getByRole('listitem')
      await expect.poll(() => cards.count()).toBe(2)
      const open = [
        page.getByRole('button', { name: 'Filter', exact: true }),
        page.getByRole('button', { name: 'Save view' }),
      ]
      for (const button of open) {
        await button.click()
        expect(await page.evaluate(OVERFLOW)).toBe(0)
        await page.keyboard.press('Escape')
      }
      expect(await findViolations(page)).toEqual([])
      await cards.filter({ hasText: 'Rate limited' }).getByRole('link').click()
      await page.getByText('Rejected with 429 before any provider was called.').waitFor()
      await page.setViewportSize({ width: 1280, height: 900 })
    })

    test('polling transfers nothing while nothing changes, then only what is new, and pauses in a hidden tab', async () => {
      await openList()
      const polls: Response[] = []
      page.on('response', response => response.url().includes('/v1/requests?') && polls.push(response))
      await expect.poll(() => polls.at(-1)?.status()).toBe(304)
      await record({ request_id: 'fresh', model: 'a-fresh-model' }, 0)
      await page.getByText('a-fresh-model').waitFor()
      const changed = polls.filter(response => response.status() === 200).at(-1)
      const body: { data: { request_id: string }[] } | undefined = await changed?.json()
      // A page has 50 rows. Only those of the last seconds are sent again.
      expect(body?.data.length).toBeLessThan(50)
      expect(body?.data[0]?.request_id).toBe('fresh')
      await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
      await page.waitForTimeout(500)
      const before = polls.length
      await page.waitForTimeout(5_000)
      expect(polls.length).toBe(before)
    })
  })
})

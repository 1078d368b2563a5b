/** What finance reads: shares in the order of the chart, one hit rate, and costs by group with budgets, file and report. */
import { readFileSync } from 'node:fs'
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
/** The requests of the key with few, expensive ones; all others are hits, misses, and requests that did not reach the cache. */
const RESULTS = ['HIT', 'HIT', 'MISS', null] as const

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('costs', backend => {
    let browser: Browser
    const proxy = duringTests(() => startProxy({ stores: backend.open(), dashboard: true }))
    let page: Page
    let home: string
    beforeAll(async () => {
      await addAdministrator(proxy)
      const [made] = await proxy.query<{ id: number }>(`select create_project('acme', 'pro')::integer as id`)
      const project = made?.id ?? 0
      const keys: number[] = []
      for (const name of ['cheap', 'expensive']) {
        const [key] = await proxy.query<{ id: number }>(
          `select id::integer from create_api_key('acme', 'project', '${name}', null)`,
        )
        keys.push(key?.id ?? 0)
      }
      await proxy.query(`select set_budget('acme', 'usd', 200, 'month')`)
      await recordUsage(
        proxy.stores.database,
        Array.from({ length: 41 }, (_, n) => recordOf(project, keys, n)),
        crypto.randomUUID(),
      )
      home = `${proxy.rootUrl}/dashboard`
      browser = await openBrowser()
      page = await (await browser.newContext({ acceptDownloads: true })).newPage()
      await logIn(page, home.slice(0, -'/dashboard'.length))
      home = `${home}/proj_${project}`
    })
    afterAll(() => browser?.close())

    function recordOf(project: number, [cheap = 0, expensive = 0]: readonly number[], n: number): UsageRecord {
      const isExpensive = n === 40
      const result = isExpensive ? 'MISS' : (RESULTS[n % RESULTS.length] ?? null)
      return {
        recorded_at: new Date().toISOString(),
        request_id: `r${n}`,
        project_id: project,
        key_id: isExpensive ? expensive : cheap,
        endpoint: 'chat',
        model: 'gpt-4o-mini',
        provider: 'openai',
        cache_result: result,
        status: result === null ? 429 : 200,
        streamed: false,
        ...{ prompt_tokens: 10, cached_prompt_tokens: 0, completion_tokens: 5, tokens_saved: 0 },
        cost_usd: isExpensive ? 99 : result === 'MISS' ? 0.1 : 0,
        cost_estimated: isExpensive ? 'client_left' : null,
        saved_usd: result === 'HIT' ? 0.1 : 0,
        ...{ latency_ms: 10, duration_ms: 20 },
        tags: isExpensive ? { team: 'search' } : null,
      }
    }

    test('the overview lists first what costs most when it shows the cost, and has one hit rate', async () => {
      await page.goto(`${home}/overview`)
      const shares = page.locator('section').filter({ has: page.getByRole('heading', { name: 'By API key' }) })
      await shares.locator('li').first().filter({ hasText: 'cheap' }).waitFor()
      // 20 hits and 11 misses; 10 requests did not reach the cache.
      await page.getByText('64.5%', { exact: true }).waitFor()
      await page.getByText('64.5% hits').waitFor()
      await page.getByRole('button', { name: 'Cost', exact: true }).click()
      await shares.locator('li').first().filter({ hasText: 'expensive' }).waitFor()
      expect(new URL(page.url()).searchParams.get('measure')).toBe('cost')
    })

    const rows = async () => {
      const cells = await page.locator('tbody tr').all()
      return Promise.all(cells.map(async row => (await row.locator('td').allTextContents()).slice(0, 7)))
    }

    test('the costs page lists teams, and requests without one', async () => {
      await page.getByRole('link', { name: 'Costs', exact: true }).click()
      await page.getByRole('row').filter({ hasText: 'Without a team' }).waitFor()
      expect(await rows()).toEqual([
        ['search', '1', '$99.00', '$99.00', '99%', '$0.00', '0%'],
        ['Without a team', '40', '$1.00', '$0.00', '1%', '$2.00', '66.7%'],
        ['Total', '41', '$100.00', '$99.00', '100%', '$2.00', '64.5%'],
      ])
      for (const [group, first] of [
        ['API key', 'expensive'],
        ['Model', 'gpt-4o-mini'],
        ['End user', 'Without an end user'],
        ['Provider key', 'openai'],
      ] as const) {
        await page.getByRole('button', { name: group, exact: true }).click()
        await page.getByRole('region', { name: `Costs by ${group}` }).waitFor()
        await page.getByRole('row').nth(1).filter({ hasText: first }).waitFor()
        expect((await rows()).at(-1)?.slice(1, 3)).toEqual(['41', '$100.00'])
      }
      await page.setViewportSize(PHONE)
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      await page.setViewportSize({ width: 1280, height: 900 })
    })

    test('the numbers of requests link to the requests', async () => {
      for (const [group, name, count] of [
        ['team', 'search', 1],
        ['api_key', 'cheap', 40],
        ['model', 'Total', 41],
      ] as const) {
        await page.goto(`${home}/costs?group=${group}`)
        await page
          .getByRole('row')
          .filter({ hasText: name })
          .getByRole('link', { name: `${count}` })
          .click()
        await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
        await waitForPage(page)
        const listed = page.getByRole('region', { name: 'Requests' }).locator('tbody tr')
        await listed.nth(count - 1).waitFor()
        expect([name, await listed.count()]).toEqual([name, count])
      }
    })

    test('a budget is a bar, the file has the figures of the table, and the report opens', async () => {
      await page.goto(`${home}/costs`)
      await page.getByRole('heading', { name: 'Monthly budget: Whole project' }).waitFor()
      await page.getByText('of $200.00').waitFor()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      expect(file.suggestedFilename()).toBe('costs-team.csv')
      const lines = readFileSync(await file.path(), 'utf8')
        .trimEnd()
        .split('\r\n')
        .slice(1)
      expect(lines.map(line => line.split(',').slice(0, 3))).toEqual([
        ['group', 'search', '1'],
        ['without', '', '40'],
      ])
      const [report] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: 'Monthly report' }).click(),
      ])
      await report.getByRole('heading', { level: 1, name: 'Model Proxy: acme' }).waitFor()
      await report.close()
    })

    test('the page of costs and that of limits show the same budgets, in any order', async () => {
      await page.goto(`${home}/costs`)
      for (const link of ['Limits and budgets', 'Costs', 'Limits and budgets']) {
        await page.getByRole('heading', { name: 'Monthly budget: Whole project' }).or(budgetRow()).first().waitFor()
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link, exact: true }).click()
        await page.getByRole('heading', { level: 1, name: link }).waitFor()
      }
      await budgetRow().waitFor()
    })
    const budgetRow = () => page.getByRole('region', { name: 'Budgets', exact: true }).getByRole('row').nth(1)

    test('another month and a custom range have their own figures', async () => {
      await page.goto(`${home}/costs`)
      await page.getByLabel('Period').selectOption({ index: 1 })
      await page.getByText('No costs in this period').waitFor()
      await page.getByLabel('Period').selectOption('own')
      await page.getByRole('row').filter({ hasText: 'Without a team' }).waitFor()
      expect(await page.getByRole('link', { name: 'Monthly report' }).count()).toBe(0)
    })
  })
})

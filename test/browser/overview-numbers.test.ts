/**
 * Each number of the overview links to exactly the requests that it counts. Requests with test keys are included until a project key is
 * used.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordUsage, rollUpUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeOnce } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { addAdministrator } from './seed.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'openai/gpt-4o']
const RESULTS = ['HIT', 'HIT-SEMANTIC', 'MISS', null] as const
const TAGS = [null, { team: 'search' }, { team: 'ads', env: 'prod' }]
/** In the order of the key types. The last key is deleted. */
const KEY_TYPES = ['project', 'test', 'project']

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('the overview’s numbers', backend => {
    let browser: Browser
    let proxy: TestProxy
    let root: string
    let page: Page
    beforeAll(async () => {
      const stores = await backend.open()
      proxy = await startProxy({ stores, dashboard: true })
      root = proxy.rootUrl
      await addAdministrator(proxy)
      browser = await openBrowser()
      // A time zone whose hours do not begin with those of UTC.
      page = await (await browser.newContext({ timezoneId: 'Asia/Kolkata' })).newPage()
      await logIn(page, root)
    })
    afterAll(() => Promise.all([browser?.close(), proxy?.stop()]))

    const rows = () => page.getByRole('region', { name: 'Requests' }).locator('tbody tr')

    /** Opens each link to requests on the page and compares the counts. Returns the number of links. */
    async function followAll(path: string, wait: string | RegExp): Promise<number> {
      await page.goto(`${root}/dashboard/${path}`)
      await page.getByText(wait).first().waitFor()
      // Waits until each part of the page has loaded its data.
      await page.waitForLoadState('networkidle')
      const links = await page.locator('main a[href*="/requests?"]').all()
      const all = await Promise.all(
        links.map(async link => [(await link.textContent()) ?? '', (await link.getAttribute('href')) ?? ''] as const),
      )
      // Shortcuts link to lists without counting them.
      const found = all.filter(([text]) => /^\d/.test(text))
      for (const [text, href] of found) {
        const count = Number(/^[\d,]+/.exec(text)?.[0].replaceAll(',', ''))
        await page.goto(`${root}${href}`)
        await waitForPage(page)
        if (count > 0) await rows().first().waitFor()
        else await page.getByText('No matching requests').waitFor()
        expect([path, text, href, count > 0 ? await rows().count() : 0]).toEqual([path, text, href, count])
      }
      return found.length
    }

    test('include test keys while there are no other requests, and say so; afterwards not', async () => {
      const key = await proxy.createKey({ project: 'fresh', type: 'test' })
      const [{ id } = { id: '' }] = await proxy.query<{ id: string }>(`select find_project('fresh')::text as id`)
      await page.goto(`${root}/dashboard/proj_${id}/overview`)
      await page.getByText('No requests in this period').waitFor()
      await page.getByText('Send a request: to do').waitFor()
      expect(await page.getByText(/Include test keys$|Requests with test keys are included/).count()).toBe(0)
      for (const words of [
        'What is the capital of Peru?',
        'What is the capital of Peru?',
        'what’s the capital of peru',
      ])
        await ask(proxy, key, words)
      await ask(proxy, key, { model: 'openai/gpt-4o-mini', messages: 'none' })
      await proxy.settle()
      // The page stays open and updates automatically.
      await page.getByText('Requests with test keys are included because no project key has been used yet.').waitFor()
      await page.getByText('1 exact, 1 semantic').waitFor()
      await page.getByText('Send a request: to do').waitFor({ state: 'detached' })
      expect(await followAll(`proj_${id}/overview`, '1 exact, 1 semantic')).toBeGreaterThanOrEqual(8)

      const other = await proxy.createKey({ project: 'fresh', type: 'project' })
      await page.goto(`${root}/dashboard/proj_${id}/overview`)
      await page.getByText('1 exact, 1 semantic').waitFor()
      await ask(proxy, other, { model: 'openai/gpt-4o-mini', messages: 'none' })
      await proxy.settle()
      await page.getByText('Requests with test keys are included').waitFor({ state: 'detached' })
      await page.getByText('0 exact, 0 semantic').waitFor()
      await followAll(`proj_${id}/overview`, '0 exact, 0 semantic')
      await page.goto(`${root}/dashboard/proj_${id}/overview`)
      await page.getByLabel('Include test keys').check()
      await page.getByText('1 exact, 1 semantic').waitFor()
    })

    test('show what was paid again, and record that two questions ask the same', async () => {
      const [made] = await proxy.query<{ id: number }>(`select create_project('again', 'pro')::integer as id`)
      const key = await proxy.createKey({
        project: 'again',
        type: 'test',
        settings: { semantic_threshold: '0.5', log_content: 'sealed' },
      })
      const open = () => page.goto(`${root}/dashboard/proj_${made?.id}/overview`)
      await ask(proxy, key, 'What is the capital of France?')
      await proxy.settle()
      await open()
      await page.getByText('No question that had been answered before was paid for again in this period.').waitFor()
      await ask(proxy, key, 'What is the capital of France?', { 'cache-control': 'no-cache' })
      await ask(proxy, key, 'What is the pretty capital of France?')
      await proxy.settle()
      // The sandbox of test keys costs nothing.
      await proxy.query(`update usage_records set cost_usd = 0.5 where project_id = ${made?.id}`)
      await open()
      await page.getByText('$1.00 for 2 requests').waitFor()
      const row = (text: string) =>
        page.getByRole('region', { name: 'Paid again' }).locator('tbody tr', { hasText: text })
      expect(await row('The request bypassed the cache.').textContent()).toContain('What is the capital of France?')
      const near = row('What is the pretty capital of France?')
      await near.getByRole('button', { name: 'These ask the same' }).click()
      await near.getByText('Marked same').waitFor()
      const verdicts = await proxy.query(`select source, verdict from cache_verdicts where project_id = ${made?.id}`)
      expect(verdicts).toEqual([{ source: 'person', verdict: 'same' }])
      await row('The request bypassed the cache.').getByRole('link', { name: 'View requests' }).click()
      await rows().first().waitFor()
      expect(await rows().count()).toBe(1)
    })

    describe('the overview’s numbers among other records', () => {
      let project: number
      let keys: number[]
      beforeAll(async () => {
        const [made] = await proxy.query<{ id: number }>(`select create_project('mixed', 'pro')::integer as id`)
        project = made?.id ?? 0
        keys = []
        for (const [n, type] of KEY_TYPES.entries()) {
          const [key] = await proxy.query<{ id: number }>(
            `select id::integer from create_api_key('mixed', '${type}', 'key ${n}', null)`,
          )
          keys.push(key?.id ?? 0)
        }
        const records = momentsAround().map(recordOf)
        await recordUsage(proxy.stores.database, records.slice(0, 60), crypto.randomUUID())
        await rollUpUsage(proxy.stores.database)
        await recordUsage(proxy.stores.database, records.slice(60), crypto.randomUUID())
        await proxy.query(`delete from api_keys where id = ${keys[2]}`)
      })

      /** Moments in each time range of the page, and a second before and after the start of a range. */
      function momentsAround(): number[] {
        const now = Math.floor(Date.now() / 1000)
        const halfHour = now - (now % HOUR) + (now % HOUR >= HOUR / 2 ? HOUR / 2 : -HOUR / 2)
        const ends = [halfHour - 23 * HOUR, now - DAY, halfHour - 167 * HOUR, now - 7 * DAY, now - 30 * DAY]
        const near = ends.flatMap(end => [end - 1, end, end + 1])
        return [...near, ...Array.from({ length: 72 }, (_, n) => now - 5 - Math.floor((n * n * 400 * DAY) / 5_184 / 2))]
      }

      function recordOf(seconds: number, n: number): UsageRecord {
        const result = RESULTS[n % 4] ?? null
        return {
          recorded_at: new Date(seconds * 1000).toISOString(),
          request_id: `r${n}`,
          project_id: project,
          key_id: keys[n % 7 === 6 ? 2 : n % 2] ?? 0,
          endpoint: 'chat',
          model: MODELS[n % 3] ?? '',
          provider: 'openai',
          cache_result: result,
          status: n % 5 === 4 ? (n % 2 ? 429 : 502) : 200,
          error_code: null,
          streamed: false,
          ...{ prompt_tokens: 10, cached_prompt_tokens: 0, completion_tokens: 5, tokens_saved: 0 },
          ...{ cost_usd: 0.001, saved_usd: 0, latency_ms: 10, duration_ms: 20 },
          tags: TAGS[Math.floor(n / 2) % 3] ?? null,
        }
      }

      test.each([
        ['', 11],
        ['?tests=true', 11],
        ['?span=month&tests=true', 11],
        ['?span=own', 11],
        ['?span=own&from=2026-01-01T00:00&until=2026-06-01T12:34', 7],
        ['?span=month&key=FIRST', 11],
        ['?span=month&model=gpt-4o', 6],
        ['?span=month&tag=team%3Dsearch', 5],
        ['?span=month&tests=true&tag=env%3Dprod&model=gpt-4o-mini', 4],
        ['?span=year', 11],
      ])('link to the records that they count: %s', async (query, least) => {
        const given = query.replace('FIRST', `key_${keys[0]}`)
        expect(await followAll(`proj_${project}/overview${given}`, 'By model')).toBeGreaterThanOrEqual(least)
      })

      test.each([
        ['?span=own&group=team', 3],
        ['?span=own&group=api_key&tests=true', 3],
        ['?span=own&group=model&from=2026-01-01T00:00&until=2026-06-01T12:34', 3],
      ])('of costs link to the records that they count: %s', async (query, least) => {
        expect(await followAll(`proj_${project}/costs${query}`, 'Total')).toBeGreaterThanOrEqual(least)
      })
    })
  })
})

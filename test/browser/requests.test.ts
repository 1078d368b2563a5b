/** Finds a request, opens it, goes back, opens its match, and exports the result of the search. */
import { readFileSync } from 'node:fs'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { addAdministrator, type Seeded, seedMatches, seedUsage } from './seed.ts'

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
/** A name of the maximum length, right to left, without spaces. */
const LONG_NAME = `${'ש'.repeat(60)}${'w'.repeat(40)}`

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('finding requests', backend => {
    let browser: Browser
    let proxy: TestProxy
    const upstream = duringTests(startFakeProvider)
    let root: string
    let seeded: Seeded
    let page: Page
    beforeAll(async () => {
      const stores = await backend.open()
      const environment = { ...upstream.environment, UPSTREAM_MAX_RETRIES: '0' }
      proxy = await startProxy({ dashboard: true, stores, environment })
      root = proxy.rootUrl
      await addAdministrator(proxy)
      seeded = await seedUsage(proxy)
      await seedMatches(proxy, seeded)
      const [key] = await proxy.query<{ key: string }>(
        `select issue_key('acme-support', 'project', '${LONG_NAME}') as key`,
      )
      await proxy.query(`select set_setting('acme-support', 'fallbacks', 'openai/gpt-4o')`)
      upstream.scriptOnce({ kind: 'error', status: 503, message: 'Overloaded' })
      await ask(proxy, key?.key ?? '', question('Who falls back?', { user: 'somebody' }))
      upstream.scriptOnce({ kind: 'error', status: 400, message: 'No such thing', code: 'no_such_thing' })
      await ask(proxy, key?.key ?? '', question('Who is refused?'))
      await proxy.settle()
      browser = await openBrowser()
      page = await (
        await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true })
      ).newPage()
      await logIn(page, root)
    })
    afterAll(() => Promise.all([browser?.close(), proxy?.stop()]))

    /** Checks that the page does not overflow at either screen width. */
    async function fits(name: string): Promise<void> {
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 900 })
        expect([name, width, await page.evaluate<number>(OVERFLOW)]).toEqual([name, width, 0])
        const folder = process.env.SCREENSHOTS
        if (folder) await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
      }
      await page.setViewportSize({ width: 1280, height: 900 })
    }

    /** Types into the filter menu, and chooses one of the listed filters. */
    async function chooseFilter(text: string, option: string): Promise<void> {
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('combobox', { name: 'Search filters' }).fill(text)
      await page.getByRole('listbox').getByRole('option', { name: option }).click()
      await page.getByRole('listbox').waitFor({ state: 'detached' })
    }

    const count = () => page.getByRole('table').getByRole('row').count()

    test('from the overview’s failures to one of them, and back', async () => {
      await page.goto(`${root}/dashboard/${seeded.project}/overview?span=month`)
      await page.getByRole('link', { name: /failed$/ }).click()
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
      await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1')
      await page.getByRole('table').waitFor()
      expect(new URL(page.url()).searchParams.get('outcome')).toBe('failed')
      await chooseFilter('no_such', 'Error code no_such_thing')
      await expect.poll(count).toBe(2)
      await fits('failed')
      await page.getByRole('row').nth(1).getByRole('link').click()
      await page.getByText('The provider responded with status 400: No such thing').waitFor()
      expect(await page.title()).toBe('Request details · acme-support · Model Proxy')
      const address = page.url()
      await fits('refused')
      await page.goBack()
      await expect.poll(count).toBe(2)
      await page.goBack()
      await expect.poll(count).toBeGreaterThan(2)
      await page.goto(address)
      await page.getByText('no_such_thing').waitFor()
      await page.getByRole('link', { name: 'All requests' }).click()
      await expect.poll(count).toBe(2)
    })

    test('a fallback’s log, and links between a match and its request', async () => {
      await page.goto(`${root}/dashboard/${seeded.project}/requests?user=somebody`)
      await page.getByRole('row').nth(1).getByRole('link').click()
      await page.getByText('openai/gpt-4o-mini failed, and the fallback openai/gpt-4o responded.').waitFor()
      await page.getByText('The provider responded with status 503: Overloaded').waitFor()
      await page.getByRole('region', { name: 'Attempts' }).getByText('overloaded').waitFor()
      await fits('fallback')
      await page.goto(`${root}/dashboard/${seeded.project}/requests?result=HIT-SEMANTIC&span=hour&model=gpt-4o-mini`)
      await page.getByRole('row').nth(1).getByRole('link').click()
      await page.getByRole('link', { name: 'Compare questions' }).click()
      await page.getByText('Semantic hits: one request').waitFor()
      await page.locator('mark').first().waitFor()
      await fits('match')
      await page.getByRole('link', { name: 'View request' }).click()
      await expect.poll(count).toBe(2)
    })

    test('finds an estimated cost from the overview, and settles it', async () => {
      await proxy.query(`insert into usage_records (recorded_at, project_id, request_id, status, endpoint, model, provider, cache_result,
          streamed, prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, cost_estimated, doubtful_usd, saved_usd,
          latency_ms, duration_ms, key_id)
        select now(), p.id, 'left', 499, 'chat', 'o3', 'openai', 'MISS', true, 20, 0, 12, 0, 0.0002, 'client_left', 1.25, 0, 100, 900,
          (select min(k.id) from api_keys k where k.project_id = p.id and k.type = 'project')
        from projects p where p.name = 'acme-support'`)
      await page.goto(`${root}/dashboard/${seeded.project}/overview?span=month`)
      await fits('overview-estimated')
      await page.getByRole('link', { name: /of it estimated$/ }).click()
      // The newest estimate is the first row.
      await expect.poll(count).toBeGreaterThan(1)
      await fits('estimated')
      await page.getByRole('row').nth(1).getByRole('link').click()
      await page
        .getByText('estimated: the client disconnected first. Its provider may have charged up to $1.25 more.')
        .waitFor()
      await fits('estimate')
      await page.getByRole('button', { name: 'Enter actual cost' }).click()
      await page.getByLabel('Cost in US dollars').fill('0.75')
      await fits('settle')
      await page.getByRole('button', { name: 'Save cost' }).click()
      await page.getByText('estimated:').waitFor({ state: 'detached' })
      const [row] = await proxy.query(
        `select cost_usd::float8 as usd, cost_estimated from usage_records where request_id = 'left'`,
      )
      expect(row).toEqual({ usd: 0.75, cost_estimated: null })
      await fits('settled')
    })

    test('shows a column that the page does not know by its name', async () => {
      await page.route('**/v1/requests/*', async route => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), queue_ms: 1500, further_name: 'ünknown' } })
      })
      await page.goto(`${root}/dashboard/${seeded.project}/requests?user=somebody`)
      await page.getByRole('row').nth(1).getByRole('link').click()
      const readValue = (name: string) => page.locator('dt', { hasText: name }).locator('xpath=following-sibling::dd')
      expect(await readValue('Queue').textContent()).toBe('1.50 s')
      expect(await readValue('Further name').textContent()).toBe('ünknown')
      const all = await page.locator('dt').allTextContents()
      expect(all.filter(name => name.includes('_') || /^(Object|Id|Created at)$/.test(name))).toEqual([])
      await page.unroute('**/v1/requests/*')
    })

    test('keeps the list when a refresh fails, and loads what failed at first when the proxy is back', async () => {
      const [lists, alert] = ['**/v1/requests?*', page.getByRole('alert')]
      await page.goto(`${root}/dashboard/${seeded.project}/requests`)
      await page.getByRole('row').nth(1).waitFor()
      await page.route(lists, route => route.abort())
      await alert.waitFor()
      expect(await page.getByRole('row').count()).toBeGreaterThan(1)
      await page.reload()
      await alert.waitFor()
      expect(await page.getByRole('row').count()).toBe(0)
      await page.unroute(lists)
      await page.getByRole('row').nth(1).waitFor()
      expect(await alert.count()).toBe(0)
    })

    test('exports the slowest requests of any period as a CSV file', async () => {
      await page.goto(`${root}/dashboard/${seeded.project}/requests`)
      await page.getByLabel('Period').selectOption('Last 30 days')
      await page.getByRole('columnheader', { name: 'Duration' }).getByRole('button').click()
      await chooseFilter('haiku', 'Model contains “haiku”')
      await page.getByText('Only requests of one second or longer are listed.').waitFor()
      await expect.poll(count).toBe(51)
      await fits('slowest')
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      const [head, ...lines] = readFileSync(await file.path(), 'utf8')
        .trimEnd()
        .split('\r\n')
      const [slow] = await proxy.query<{ n: number }>(
        `select count(*)::integer as n from usage_records where model ilike '%haiku%' and duration_ms >= 1000
          and recorded_at > now() - interval '30 days'`,
      )
      expect([head?.startsWith('\ufeffrecorded_at,request_id'), lines.length]).toEqual([true, slow?.n])
    })

    test('requests only the newest page again', async () => {
      await page.goto(`${root}/dashboard/${seeded.project}/requests?span=month`)
      for (let pages = 1; pages < 6; pages++) {
        await page.getByRole('button', { name: 'Show more' }).click()
        await expect.poll(count).toBe(1 + 50 * (pages + 1))
      }
      const urls: string[] = []
      const note = (request: Request) => request.url().includes('/v1/requests') && urls.push(request.url())
      page.on('request', note)
      await page.waitForTimeout(4_500)
      expect(urls.length).toBeLessThan(4)
      await expect.poll(() => urls.length).toBeGreaterThan(0)
      page.off('request', note)
      expect(urls.filter(url => url.includes('after='))).toEqual([])
      expect(await count()).toBe(301)
    })

    test('a long name hides no button, and an unknown page is shown in the frame', async () => {
      await page.goto(`${root}/dashboard/${seeded.project}/settings/keys`)
      const row = page.getByRole('row').filter({ hasText: 'www' })
      await row.waitFor()
      const button = await row.getByRole('button').last().boundingBox()
      expect((button?.x ?? 9_999) + (button?.width ?? 0)).toBeLessThan(1280)
      await fits('keys')
      await page.goto(`${root}/dashboard/${seeded.project}/requests/nothing`)
      await page.getByText('must be an id from this list.').waitFor()
      const urls: string[] = []
      const note = (request: Request) => request.url().endsWith('/proj_999999') && urls.push(request.url())
      page.on('request', note)
      await page.goto(`${root}/dashboard/proj_999999/overview`)
      await page.getByText('Project not found').waitFor()
      await page.waitForTimeout(1_000)
      expect(urls.length).toBe(1)
      page.off('request', note)
      await page.goto(`${root}/dashboard/no/such/page`)
      await page.getByText('Page not found').waitFor()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    })

    test('reports an unreachable server in the frame, and recovers', async () => {
      const fresh = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
      await logIn(fresh, root)
      await fresh.goto(`${root}/dashboard/${seeded.project}/requests`)
      await fresh.getByRole('row').nth(1).waitFor()
      await fresh.context().setOffline(true)
      const message = fresh.getByText('The proxy cannot be reached.')
      await message.waitFor()
      await fresh.getByRole('link', { name: 'Alerts' }).click()
      await fresh.getByText('This page failed to load').waitFor()
      await message.waitFor()
      await fresh.context().setOffline(false)
      await fresh.getByRole('button', { name: 'Try again' }).click()
      await fresh.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor()
      await message.waitFor({ state: 'detached' })
      await fresh.context().close()
    })
  })
})

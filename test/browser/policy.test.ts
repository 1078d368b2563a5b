/** The pages “Cache and models”, the list of limits, and the keys and scrolling of the playground. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { addAdministrator, seedUsage } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('settings and limits', backend => {
    let browser: Browser
    const upstreams = duringTests(startUpstreams)
    const proxy = duringTests(() =>
      startProxy({ dashboard: true, stores: backend.open(), environment: upstreams.environment }),
    )
    let page: Page
    let project: string
    beforeAll(async () => {
      await addAdministrator(proxy)
      const seeded = await seedUsage(proxy)
      project = `${proxy.rootUrl}/dashboard/${seeded.project}`
      browser = await openBrowser()
      page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
      await logIn(page, proxy.rootUrl)
    })
    afterAll(() => browser?.close())

    async function open(path: string): Promise<void> {
      await page.goto(`${project}/${path}`)
      await waitForPage(page)
      const folder = process.env.SCREENSHOTS
      if (folder) await page.screenshot({ path: `${folder}/${path.replace(/\W+/g, '-')}.png`, fullPage: true })
    }

    test('each setting is on exactly one page', async () => {
      const titles = await proxy.query<{ title: string }>('select title from setting_kinds')
      const shown: string[] = []
      for (const path of ['policy', 'policy/sharing', 'policy/models', 'policy/spending', 'alerts']) {
        await open(`settings/${path}`)
        await page.getByRole('button', { name: /^Save (settings|thresholds)$/ }).waitFor()
        shown.push(...(await page.locator('form legend, form label[for]').allInnerTexts()))
      }
      const listed = titles.map(row => row.title)
      expect(shown.filter(each => listed.includes(each)).sort()).toEqual(listed.sort())
    })

    test('a choice shows what last week would have been, and allowed models what they would have rejected', async () => {
      await open('settings/policy')
      await page
        .getByText(/^Last week: [\d,.K]+ fewer cache hits/)
        .first()
        .waitFor()
      await open('settings/policy/models')
      await page.getByLabel('Allowed models').fill('gpt-4o-mini, anthropic/*, gpt-4.1')
      await page.getByText(/requests would have been rejected \(llama-3.3-70b-versatile\)/).waitFor()
      await page.getByLabel('Allowed models').fill('*')
      await page.getByText('Last week: no request would have been rejected').waitFor()
    })

    test('the list of limits has budgets and keys, with links to change them', async () => {
      await open('settings/limits')
      const limits = page.getByRole('region', { name: 'All limits' })
      await limits
        .getByRole('row')
        .filter({ hasText: 'team=search' })
        .getByRole('link', { name: 'This project' })
        .waitFor()
      await limits.getByRole('row').filter({ hasText: 'production' }).getByText('of 6').first().waitFor()
    })

    test('Ctrl+Enter sends, and the page follows the response unless the user scrolls up', async () => {
      const [made] = await proxy.query<{ id: number }>(`select create_project('play', 'pro')::integer as id`)
      await page.goto(project.replace(/proj_\d+$/, `proj_${made?.id}/playground`))
      await page.getByRole('button', { name: 'Providers', exact: true }).click()
      const long = Array.from({ length: 200 }, (_, at) => `Line ${at}`).join('\n')
      upstreams.aggregator.script(() => ({ kind: 'answer', content: long }))
      await page.getByLabel('Message').fill('Tell me a long story')
      await page.getByLabel('Message').press('Control+Enter')
      await page.getByText('Line 199').waitFor()
      const fromEnd = () =>
        page.evaluate<number>(
          'document.documentElement.scrollHeight - document.documentElement.clientHeight - window.scrollY',
        )
      await expect.poll(fromEnd).toBeLessThan(2)
      await page.mouse.move(900, 300)
      await page.mouse.wheel(0, -2_000)
      await expect.poll(fromEnd).toBeGreaterThan(500)
      await page.getByRole('button', { name: 'Clear conversations' }).waitFor()
    })
  })
})

/** Printed pages show their content, without the menu and buttons, and not cut off at the edge of the paper. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, pagesOf, waitForPage } from './open-browser.ts'
import { addAdministrator, seedMatches, seedUsage } from './seed.ts'

/** The width of A4 paper between margins of 12 mm, in CSS pixels. */
const PAPER = { width: 703, height: 1_000 }

/** Lists what is cut off: the page, or a part that scrolls on a screen. */
const FIND_CUT_OFF = `[document.documentElement, ...document.querySelectorAll('main, main section, main table, main pre')]
  .filter(each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
  .map(each => each.tagName + ' ' + (each.getAttribute('aria-label') ?? each.textContent.slice(0, 40)) + ' ' + each.scrollWidth)`

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('printing', backend => {
    let browser: Browser
    let proxy: TestProxy
    let page: Page
    let project: string
    let root: string
    beforeAll(async () => {
      const stores = await backend.open()
      proxy = await startProxy({ dashboard: true, stores })
      root = proxy.rootUrl
      await addAdministrator(proxy)
      const seeded = await seedUsage(proxy)
      await seedMatches(proxy, seeded)
      project = seeded.project
      browser = await openBrowser()
      page = await (await browser.newContext({ viewport: PAPER, colorScheme: 'dark' })).newPage()
      await logIn(page, root)
      await page.emulateMedia({ media: 'print' })
    })
    afterAll(() => Promise.all([browser?.close(), proxy?.stop()]))

    test('shows the content of every page, without menu and buttons', async () => {
      const wrong: unknown[] = []
      for (const [name, path] of pagesOf(project)) {
        await page.goto(`${root}/dashboard${path}`)
        await waitForPage(page)
        await page.waitForLoadState('networkidle')
        const isShown = (selector: string) => page.locator(selector).filter({ visible: true }).count()
        const found = {
          headings: await isShown('main h1'),
          menus: (await isShown('nav[aria-label="Pages"]')) + (await isShown('header:has([aria-controls="sidebar"])')),
          buttons: await page
            .getByRole('button', { name: /^(Save|Export|Delete|Create|Add|Purge|Filter|Send)\b/ })
            .count(),
          cutOff: await page.evaluate<string[]>(FIND_CUT_OFF),
        }
        if (found.headings !== 1 || found.menus + found.buttons + found.cutOff.length > 0) wrong.push([name, found])
      }
      expect(wrong).toEqual([])
    }, 600_000)

    test('prints as many sheets as the content needs', async () => {
      await page.goto(`${root}/dashboard/${project}/requests`)
      await page.getByRole('region', { name: 'Requests' }).locator('tbody tr').nth(49).waitFor()
      const file = (await page.pdf({ format: 'A4' })).toString('latin1')
      expect(file.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(1)
    })
  })
})

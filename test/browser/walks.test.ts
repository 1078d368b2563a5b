/** Walks through the dashboard: at most three clicks from the overview, on a desktop and on a phone. */
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { addAdministrator, seedMatches, seedUsage } from './seed.ts'
import { type Step, WALKS, type Walk } from './walks.ts'

const MAX_CLICKS = 3
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const DEVICES = {
  'on a desktop': { viewport: { width: 1280, height: 900 } },
  'on a phone': { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true },
}
const title = chromiumPath ? 'in chromium' : NO_CHROMIUM

/** Counts the clicks on a page, and throws at one too many. */
class Walker {
  clicks = 0
  constructor(
    readonly page: Page,
    readonly isPhone: boolean,
    /** The values of texts in braces. */
    readonly facts: Readonly<Record<string, string>>,
  ) {}

  async click(target: Locator): Promise<void> {
    this.clicks++
    if (this.clicks > MAX_CLICKS) throw new Error(`more than ${MAX_CLICKS} clicks`)
    await (this.isPhone ? target.tap() : target.click())
  }

  fill<Text extends string | RegExp>(text: Text): Text | string {
    return typeof text === 'string' ? text.replaceAll(/\{(\w+)\}/g, (_, name) => this.facts[name] ?? '') : text
  }

  async take(step: Step): Promise<void> {
    const { page } = this
    if ('menu' in step) {
      if (this.isPhone) await this.click(page.getByRole('button', { name: 'Menu' }))
      const pages = page.getByRole('navigation', { name: 'Pages' })
      await this.click(pages.getByRole('link', { name: step.menu, exact: true }))
    } else if ('shortcut' in step) {
      const shortcuts = page.getByRole('navigation', { name: 'Shortcuts' })
      await this.click(shortcuts.getByRole('link', { name: step.shortcut, exact: true }))
    } else if ('open' in step) {
      const list = step.open === 'first request' ? 'Requests' : 'Sessions'
      await page.getByRole('heading', { level: 1, name: list }).waitFor()
      await this.click(page.locator(`section[aria-label="${list}"] td a, ul[aria-label="${list}"] a`).first())
    } else if ('type' in step) {
      const field = page.getByLabel(step.into, { exact: true })
      await field.fill(this.fill(step.text))
      // A search in a list starts when the field is left; the keyboard of a phone has the same key.
      if (step.type === 'search' && (await field.getAttribute('role')) === null) await field.press('Enter')
    } else {
      const within = page.locator('dialog, tr, li').filter({ hasText: step.in ?? '' })
      const name = this.fill(step.name)
      const found = (step.in === undefined ? page : within).getByRole(step.click, {
        name,
        exact: typeof name === 'string' && step.click !== 'option',
      })
      await this.click(found.first())
    }
  }

  /** Takes the last step, and checks what it leads to. */
  async finish({ steps, shows = [], hides, downloads, opens }: Walk): Promise<void> {
    const { page } = this
    const [download, opened] = [
      downloads && page.waitForEvent('download'),
      opens && page.context().waitForEvent('page'),
    ]
    await this.take(steps.at(-1) as Step)
    const shown = page.locator('main, dialog')
    for (const text of shows) await shown.getByText(this.fill(text)).filter({ visible: true }).first().waitFor()
    if (hides) {
      const hidden = page.getByText(hides, { exact: true }).or(page.getByRole('button', { name: hides, exact: true }))
      await hidden.first().waitFor({ state: 'detached' })
    }
    if (download) {
      const file = await download
      expect(file.suggestedFilename()).toBe(downloads?.[0])
      expect(readFileSync(await file.path(), 'utf8')).toContain(downloads?.[1])
    }
    if (opened) await (await opened).getByRole('heading', { level: 1, name: opens ?? '' }).waitFor()
  }
}

test('the walks are twenty-seven, and none types an id', () => {
  expect(WALKS.length).toBe(27)
  const typed = WALKS.flatMap(({ steps }) => steps).filter(step => 'type' in step)
  expect(typed.filter(({ type, text }) => type !== 'paste' && /^(key|proj|req|user|lgw)_|\{/.test(text))).toEqual([])
})

describe.skipIf(!chromiumPath)(title, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  describe.each(Object.entries(DEVICES))('%s', (device, options) => {
    describeOnce('walks', backend => {
      const upstreams = duringTests(startUpstreams)
      let proxy: TestProxy
      let context: BrowserContext
      let root: string
      const projects = { seeded: '', fresh: '' }
      let facts: Record<string, string>
      beforeAll(async () => {
        const stores = await backend.open()
        proxy = await startProxy({ dashboard: true, stores, environment: upstreams.environment })
        root = proxy.rootUrl
        await addAdministrator(proxy)
        const { project } = await seedUsage(proxy)
        const issue = async (name: string) => {
          const [row] = await proxy.query<{ key: string }>(
            `select issue_key('acme-support', 'project', '${name}') as key`,
          )
          return row?.key ?? ''
        }
        const key = await issue('help center')
        await seedMatches(proxy, { project, testKey: key })
        await ask(proxy, key, 'How many seats does the team plan have?')
        await ask(proxy, key, question('Who wrote Faust?', { model: 'openai/gpt-4.1', max_tokens: 50 }))
        await proxy.settle()
        // The prices of the fake providers do not matter, but what cost nothing is not paid again.
        await proxy.query(`update usage_records set cost_usd = 0.002
          where project_id = ${project.slice(5)} and cost_usd = 0 and cache_result = 'MISS'`)
        const [fresh] = await proxy.query<{ id: number }>(`select create_project('new', 'free')::integer as id`)
        Object.assign(projects, { seeded: project, fresh: `proj_${fresh?.id}` })
        const [one] = await proxy.query<{ request: string }>(
          `select request_id as request from usage_records where project_id = ${project.slice(5)} order by recorded_at limit 1`,
        )
        facts = { leaked: await issue('leaked'), request: one?.request ?? '' }
        context = await browser.newContext({ acceptDownloads: true, ...options })
        const page = await context.newPage()
        await logIn(page, root)
        await page.close()
      })
      afterAll(() => Promise.all([context?.close(), proxy?.stop()]))

      test.each(WALKS.map(walk => [walk.name, walk] as const))('%s', async (_, walk) => {
        const page = await context.newPage()
        await page.goto(`${root}/dashboard/${walk.isFirstDay ? projects.fresh : projects.seeded}/overview`)
        await waitForPage(page)
        const walker = new Walker(page, device === 'on a phone', facts)
        for (const step of walk.steps.slice(0, -1)) await walker.take(step)
        await walker.finish(walk)
        expect(await page.evaluate(OVERFLOW)).toBe(0)
        await page.close()
      })
    })
  })
})

/** Every page on the narrowest screen, with the longest and most hostile names that users and clients can choose. */
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { addAdministrator } from './seed.ts'

/** The module belongs to a TypeScript project with browser types. The compiler does not follow a dynamic import of a URL. */
const { PAGE_ENTRIES }: { PAGE_ENTRIES: { path: string }[] } = await import(
  fileURLToPath(new URL('../../src/dashboard/pages/pages.ts', import.meta.url))
)
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
/** Finds texts with bidirectional control characters in the page's text, titles and labels. */
const TURNED = `[document.body, ...document.body.querySelectorAll('[title], [aria-label]')].flatMap(each =>
  [each === document.body ? each.textContent : '', each.title, each.ariaLabel ?? '']).filter(text => /[\\u202a-\\u202e]/.test(text))`

/** One word that begins with a right-to-left override, contains both directions and cannot be wrapped. */
const hostile = (length: number) => `\u202e${'ש'.repeat(length / 2)}${'w'.repeat(length / 2 - 1)}`
const PROJECT = 'W'.repeat(63)
const WORD = 'w'.repeat(200)

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('hostile names', backend => {
    let browser: Browser
    const upstreams = duringTests(startUpstreams)
    const proxy = duringTests(() =>
      startProxy({ dashboard: true, stores: backend.open(), environment: upstreams.environment }),
    )
    let page: Page
    let root: string
    /** The values of path parameters, by their placeholder. */
    let parts: Record<string, string>

    beforeAll(async () => {
      root = proxy.rootUrl
      await addAdministrator(proxy)
      await fill()
      browser = await openBrowser()
      page = await (await browser.newContext({ viewport: { width: 320, height: 800 } })).newPage()
      await logIn(page, root)
      const [row] = await proxy.query<{ id: number }>(`select id from projects where name = '${PROJECT}'`)
      await page.goto(`${root}/dashboard/proj_${row?.id}/requests`)
      // On a phone, requests are cards.
      const found = await page.locator('main li a[href*="/requests/"]').first().getAttribute('href')
      parts = { $project: `proj_${row?.id}`, $request: found?.split('/').at(-1) ?? '', $: 'nowhere/at/all' }
    })
    afterAll(() => browser?.close())

    /** Creates the data. Names that clients choose come from requests through the proxy. */
    async function fill(): Promise<void> {
      await proxy.query(`select create_project('${PROJECT}', 'pro')`)
      for (const [setting, value] of [
        ['log_content', 'sealed'],
        ['semantic_threshold', '0.5'],
      ])
        await proxy.query(`select set_setting('${PROJECT}', '${setting}', '${value}')`)
      const [made] = await proxy.query<{ key: string }>(
        `select issue_key('${PROJECT}', 'project', '${hostile(100)}') as key`,
      )
      await proxy.query(`select deactivate_key(issue_key('${PROJECT}', 'project', '${hostile(98)}'))`)
      const email = `${hostile(60)}@${hostile(120)}`
      await proxy.query(`select create_user('${email}', 'owner')`)
      await proxy.query(`select add_member('${PROJECT}', '${email}', 'viewer')`)
      await proxy.query(`select issue_admin_key('admin@localhost', '${hostile(100)}')`)
      await proxy.query(`select add_webhook('${PROJECT}', 'https://example.org/${WORD.repeat(5)}', '{}', '')`)
      await proxy.query(`select set_budget('${PROJECT}', 'usd', 10, 'month', of_model => '${hostile(100)}')`)
      const fields = {
        user: hostile(100),
        model: `openai/${hostile(100)}`,
        metadata: { [WORD.slice(0, 32)]: WORD.slice(0, 64) },
      }
      const prompt = `What is the capital of ${hostile(200)} and ${WORD}?`
      const plain = 'What is the capital of France?'
      for (const words of [
        prompt,
        `Please, ${prompt}`,
        prompt,
        plain,
        `Please, ${plain}`,
        plain.replace('capital', 'old capital'),
      ])
        await ask(proxy, made?.key ?? '', question(words, fields))
      upstreams.aggregator.scriptOnce({ kind: 'error', status: 400, message: hostile(200), code: WORD })
      await ask(proxy, made?.key ?? '', question('Who is refused?', fields))
      await proxy.settle()
      await proxy.query(
        `select record_feedback(h.project_id, h.request_id, 'wrong') from semantic_hits h where h.reason <> 'undecided'`,
      )
    }

    const VIEWS = ['near-misses', 'verdicts', 'similarity', 'answers'].map(view => `/$project/cache?view=${view}`)
    const EVERY = [
      ...PAGE_ENTRIES.map(({ path }) => path),
      '/$',
      ...VIEWS,
      '/$project/settings/keys?all=true',
      '/$project/requests?outcome=failed',
    ]

    test.each(EVERY)('%s fits, has a title and changes no text direction', async path => {
      const address = path.replace(/\$\w*/g, part => parts[part] ?? '')
      // Navigates within the page, as a link does.
      await page.evaluate(
        `history.pushState({}, '', '/dashboard${address}'); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      const heading = page.getByRole('heading', { level: 1 })
      await page.waitForLoadState('networkidle')
      await waitForPage(page)
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      expect(await page.evaluate(TURNED)).toEqual([])
      const isNamed = async () => (await page.title()).startsWith(`${await heading.textContent()} · `)
      await expect.poll(isNamed).toBe(true)
      expect(await page.title()).toMatch(/ · Model Proxy$/)
      await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1')
      expect(await page.locator('main#content h1').count()).toBe(1)
      const folder = process.env.SCREENSHOTS
      if (folder) await page.screenshot({ path: `${folder}/${address.replace(/\W+/g, '-')}.png`, fullPage: true })
    })

    test('the name of a key hides neither its button nor its dialog', async () => {
      await page.goto(`${root}/dashboard/${parts.$project}/settings/keys`)
      await page.getByRole('button', { name: /^Deactivate/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Deactivate key' }).click({ trial: true })
      expect(await page.evaluate(OVERFLOW)).toBe(0)
      expect(await page.evaluate(TURNED)).toEqual([])
      await page.getByRole('button', { name: 'Cancel' }).click()
    })

    test('an unsaved policy is not lost without a dialog', async () => {
      await page.goto(`${root}/dashboard/${parts.$project}/settings/policy`)
      await page.getByLabel('Similarity threshold').fill('0.7')
      const leave = async () => {
        await page.getByRole('button', { name: 'Menu' }).click()
        await page.getByRole('link', { name: 'API keys' }).click()
      }
      await leave()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await page.getByLabel('Similarity threshold').inputValue()).toBe('0.7')
      await leave()
      await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click()
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    })
  })
})

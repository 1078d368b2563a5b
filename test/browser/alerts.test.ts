/** The page Alerts: destinations of each kind, their events, a test, and the limits of alerts. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { readMailText, startMailServer } from '../harness/mail-server.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { startReceiver } from '../harness/receiver.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser, waitForPage } from './open-browser.ts'
import { addAdministrator } from './seed.ts'

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('the page Alerts', backend => {
    let browser: Browser
    const mailServer = duringTests(() => startMailServer({ tls: 'none' }))
    const proxy = duringTests(() =>
      startProxy({
        dashboard: true,
        stores: backend.open(),
        environment: {
          ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
          WEBHOOK_PRIVATE_NETWORKS: 'on',
          SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
          SMTP_TLS: 'off',
          MAIL_FROM: 'proxy@example.com',
        },
      }),
    )
    const receiver = duringTests(startReceiver)
    let page: Page
    beforeAll(async () => {
      await addAdministrator(proxy)
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      await openAlerts(page, proxy)
    })
    afterAll(() => browser?.close())

    const dialog = () => page.getByRole('dialog')
    const rowOf = (address: string) => page.getByRole('row').filter({ has: page.getByText(address, { exact: true }) })
    async function addDestination(format: string, label: string, address: string): Promise<void> {
      await page.getByRole('button', { name: 'Add destination' }).first().click()
      await dialog().getByLabel('Send by').selectOption({ label: format })
      await dialog().getByLabel(label, { exact: true }).fill(address)
      await dialog().getByRole('button', { name: 'Add destination' }).click()
    }

    test('adds an e-mail address, which receives a test', async () => {
      await addDestination('E-mail', 'E-mail address', 'ops@example.org')
      const row = rowOf('ops@example.org').first()
      await row.getByRole('cell', { name: 'All events' }).waitFor()
      expect(await page.getByTestId('shown-once').count()).toBe(0)
      await row.getByRole('button', { name: 'Send test to ops@example.org' }).click()
      await waitUntil('the mail', () => mailServer.mails.length === 1)
      expect(readMailText(mailServer.mails[0]?.raw ?? '')).toContain('This is a test message of project acme.')
      await page.getByRole('row').filter({ hasText: 'This is a test message' }).getByText('Delivered').waitFor()
    })

    test('adds a Slack webhook, which receives a test', async () => {
      await addDestination('Slack', 'URL of the incoming webhook', `${receiver.url}/slack`)
      const row = rowOf(`${new URL(receiver.url).host}/…/slack`).first()
      await row.getByText('Slack', { exact: true }).waitFor()
      expect(await page.getByTestId('shown-once').count()).toBe(0)
      await row.getByRole('button', { name: /^Send test/ }).click()
      await waitUntil('the test event', () => receiver.messages.length >= 1)
      expect(receiver.messages[0]?.body).toBe(JSON.stringify({ text: 'This is a test message of project acme.' }))
    })

    test('adds a webhook, and shows its secret once', async () => {
      await addDestination('Webhook', 'URL', `${receiver.url}/standard`)
      expect(await page.getByTestId('shown-once').textContent()).toMatch(/^whsec_/)
      await page.getByRole('button', { name: 'Done' }).click()
      await rowOf(`${receiver.url}/standard`).first().waitFor()
    })

    test('changes the address and the events of a destination', async () => {
      await rowOf('ops@example.org').first().getByRole('button', { name: 'Edit ops@example.org' }).click()
      await dialog().getByLabel('E-mail address').fill('oncall@example.org')
      await dialog().getByRole('checkbox', { name: 'All events' }).uncheck()
      const boxes = dialog().getByRole('checkbox', { checked: true })
      expect(await boxes.count()).toBe(12)
      for (const box of (await boxes.all()).toReversed()) await box.uncheck()
      // At least one must be checked.
      await dialog().getByRole('button', { name: 'Save' }).click()
      expect(await dialog().isVisible()).toBe(true)
      await dialog().getByRole('checkbox', { name: 'Provider down' }).check()
      await dialog().getByRole('checkbox', { name: 'Unusual spending' }).check()
      await dialog().getByRole('button', { name: 'Save' }).click()
      await rowOf('oncall@example.org').first().getByText('2 of 12').waitFor()
      const stored = await proxy.query(`select url, kinds from webhooks where url like 'mailto:%'`)
      expect(stored).toEqual([{ url: 'mailto:oncall@example.org', kinds: ['provider.down', 'spend.unusual'] }])
    })

    test('changes the limits of alerts', async () => {
      await page.getByLabel('Error rate').fill('25')
      await page.getByRole('button', { name: 'Save thresholds' }).click()
      await page.getByText('Saved.').waitFor()
      expect(await proxy.query('select alert_error_percent::integer as percent from projects')).toEqual([
        { percent: 25 },
      ])
    })

    test('has no accessibility problem and no overflow, in the dialog neither', async () => {
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        await page.getByRole('button', { name: 'Add destination' }).first().click()
        await dialog().getByRole('checkbox', { name: 'All events' }).uncheck()
        await page.evaluate(axeSource)
        const problems = await page.evaluate<string[]>(
          'axe.run().then(({ violations }) => violations.map(({ id }) => id))',
        )
        expect(problems).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        await page.keyboard.press('Escape')
      }
    })
  })

  describeOnce('the page Alerts without a mail server', backend => {
    test('says that mail is not set up, and does not offer it', async () => {
      const proxy = await startProxy({ dashboard: true, stores: await backend.open() })
      const browser = await openBrowser()
      try {
        await addAdministrator(proxy)
        const page = await (await browser.newContext()).newPage()
        await openAlerts(page, proxy)
        await page.getByText('Mail is not set up: the operator of the proxy sets SMTP_URL and MAIL_FROM.').waitFor()
        await page.getByRole('button', { name: 'Add destination' }).first().click()
        const options = page.getByRole('dialog').getByLabel('Send by').getByRole('option')
        expect(await options.allTextContents()).toEqual(['Slack', 'Webhook'])
      } finally {
        await Promise.all([browser.close(), proxy.stop()])
      }
    })
  })
})

async function openAlerts(page: Page, proxy: TestProxy): Promise<void> {
  const root = proxy.rootUrl
  await logIn(page, root)
  const [project] = await proxy.query<{ id: number }>(`select create_project('acme', 'free') as id`)
  await page.goto(`${root}/dashboard/proj_${project?.id}/settings/alerts`)
  await waitForPage(page)
}

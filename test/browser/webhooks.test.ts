/** The page Webhooks: adds a webhook of each format and sends a test event. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { type Receiver, startReceiver } from '../harness/receiver.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { addAdministrator } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('the page Webhooks', backend => {
    let browser: Browser
    let proxy: TestProxy
    let receiver: Receiver
    let page: Page
    beforeAll(async () => {
      const environment = { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, WEBHOOK_PRIVATE_NETWORKS: 'on' }
      proxy = await startProxy({ dashboard: true, stores: await backend.open(), environment })
      await addAdministrator(proxy)
      receiver = startReceiver()
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      const root = proxy.baseUrl.slice(0, -'/v1'.length)
      await logIn(page, root)
      const [project] = await proxy.query<{ id: number }>(`select create_project('acme', 'free') as id`)
      await page.goto(`${root}/dashboard/proj_${project?.id}/settings/webhooks`)
    })
    afterAll(() => Promise.all([browser?.close(), proxy?.stop(), receiver?.stop()]))

    async function addWebhook(path: string): Promise<void> {
      await page.getByRole('button', { name: 'Add webhook' }).first().click()
      const dialog = page.getByRole('dialog')
      if (path === '/slack') await dialog.getByLabel('Format').selectOption('slack')
      await dialog.getByLabel('URL').fill(`${receiver.url}${path}`)
      await dialog.getByRole('button', { name: 'Add webhook' }).click()
    }

    test('adds a webhook with the format slack, which receives a test event', async () => {
      await addWebhook('/slack')
      const row = page.getByRole('row').filter({ hasText: `${receiver.url}/slack` })
      await row.getByRole('cell', { name: 'Slack', exact: true }).waitFor()
      // Slack verifies no signature, so no secret is shown.
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await page.getByTestId('shown-once').count()).toBe(0)
      await row.getByRole('button', { name: /^Send test event/ }).click()
      await waitUntil('the test event', () => receiver.messages.length >= 1)
      expect(receiver.messages[0]?.body).toBe(JSON.stringify({ text: 'This is a test message of project acme.' }))
    })

    test('adds a webhook with the default format, and shows its secret once', async () => {
      await addWebhook('/standard')
      expect(await page.getByTestId('shown-once').textContent()).toMatch(/^whsec_/)
      await page.getByRole('button', { name: 'Done' }).click()
      const row = page.getByRole('row').filter({ hasText: `${receiver.url}/standard` })
      await row.getByRole('cell', { name: 'Standard Webhooks', exact: true }).waitFor()
    })
  })
})

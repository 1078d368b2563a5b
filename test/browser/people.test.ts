/** An administrator's page of users, and an account's sessions. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { addAdministrator } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
const EMAIL = 'new@example.org'

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('people', backend => {
    let browser: Browser
    let proxy: TestProxy
    let root: string
    let page: Page
    beforeAll(async () => {
      proxy = await startProxy({ dashboard: true, stores: await backend.open() })
      root = proxy.baseUrl.slice(0, -'/v1'.length)
      await addAdministrator(proxy)
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      await logIn(page, root)
    }, 120_000)
    afterAll(() => Promise.all([browser?.close(), proxy?.stop()]))

    /** In a browser of their own. */
    async function takeUp(invitation: string, password: string): Promise<Page> {
      const guest = await (await browser.newContext()).newPage()
      await guest.goto(invitation)
      await guest.getByLabel('New password').fill(password)
      await guest.getByRole('button', { name: 'Set password and log in' }).click()
      await guest.getByRole('heading', { level: 1, name: 'You are not a member of any project' }).waitFor()
      return guest
    }

    test('are invited, invited again, given a role and another password, and removed', async () => {
      await page.getByRole('link', { name: 'Users' }).click()
      await page.getByRole('button', { name: 'Invite user' }).click()
      await page.getByLabel('E-mail address').fill(EMAIL)
      await page.getByRole('dialog').getByRole('button', { name: 'Invite user' }).click()
      await page.getByTestId('shown-once').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      const row = page.getByRole('row').filter({ hasText: EMAIL })
      await row.getByText(/^invited, until/).waitFor()
      const invite = async (name: string) => {
        await row.getByRole('button', { name }).click()
        const link = (await page.getByTestId('shown-once').textContent()) ?? ''
        await page.getByRole('button', { name: 'Done' }).click()
        return link
      }
      const guest = await takeUp(await invite('Invite again'), 'a long enough password')
      await page.reload()
      await row.getByText('seen just now').waitFor()
      await row.getByRole('combobox').selectOption('Administrator')
      await guest.reload()
      await guest.getByRole('link', { name: 'Users' }).click()
      await guest.getByRole('row').filter({ hasText: EMAIL }).waitFor()
      await row.getByRole('combobox').selectOption('User')
      const again = await takeUp(await invite('Reset password'), 'another long password')
      await guest.reload()
      await guest.getByLabel('Password').waitFor()
      await row.getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove user' }).click()
      await row.waitFor({ state: 'detached' })
      await again.reload()
      await again.getByLabel('Password').waitFor()
    }, 120_000)

    test('end their sessions one by one', async () => {
      const other = await (await browser.newContext({ userAgent: 'The other browser' })).newPage()
      await logIn(other, root)
      await page.getByRole('link', { name: 'Account' }).click()
      const row = page.getByRole('row').filter({ hasText: 'The other browser' })
      await row.getByRole('button', { name: /^End/ }).click()
      await row.waitFor({ state: 'detached' })
      expect(await page.getByRole('row').filter({ hasText: 'this one' }).count()).toBe(1)
      await other.reload()
      await other.getByLabel('Password').waitFor()
    })
  })
})

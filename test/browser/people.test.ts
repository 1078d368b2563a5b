/** The administrators' page of users, and the sessions of an account. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { EMAIL as ADMINISTRATOR, addAdministrator, PASSWORD } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
const EMAIL = 'new@example.org'

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('users', backend => {
    let browser: Browser
    const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
    let root: string
    let page: Page
    beforeAll(async () => {
      root = proxy.rootUrl
      await addAdministrator(proxy)
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      await logIn(page, root)
    })
    afterAll(() => browser?.close())

    /** Accepts an invitation in a separate browser context. */
    async function takeUp(invitation: string, password: string): Promise<Page> {
      const guest = await (await browser.newContext()).newPage()
      await guest.goto(invitation)
      await guest.getByLabel('New password').fill(password)
      await guest.getByRole('button', { name: 'Set password and log in' }).click()
      await guest.getByRole('heading', { level: 1, name: 'You are not a member of any project' }).waitFor()
      return guest
    }

    test('are invited, invited again, given a role and another password, and removed', async () => {
      await page.getByRole('link', { name: 'Users', exact: true }).click()
      await page.getByRole('button', { name: 'Invite user' }).click()
      await page.getByLabel('E-mail address').fill(EMAIL)
      await page.getByRole('dialog').getByRole('button', { name: 'Invite user' }).click()
      await page.getByTestId('shown-once').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      const row = page.getByRole('row').filter({ hasText: EMAIL })
      await row.getByText(/^Invited until/).waitFor()
      const invite = async (name: string) => {
        await row.getByRole('button', { name }).click()
        const link = (await page.getByTestId('shown-once').textContent()) ?? ''
        await page.getByRole('button', { name: 'Done' }).click()
        return link
      }
      const guest = await takeUp(await invite('Resend invitation'), 'a long enough password')
      await page.reload()
      await row.getByText('Last seen just now').waitFor()
      const changed = page.waitForResponse(response => response.request().method() === 'POST')
      await row.getByRole('combobox').selectOption('Administrator')
      expect((await changed).status()).toBe(200)
      await guest.reload()
      await guest.getByRole('link', { name: 'Users', exact: true }).click()
      await guest.getByRole('row').filter({ hasText: EMAIL }).waitFor()
      await row.getByRole('combobox').selectOption('User')
      const again = await takeUp(await invite('Reset password'), 'another long password')
      await guest.reload()
      await guest.getByLabel('Password').waitFor()
      await row.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete user' }).click()
      await row.waitFor({ state: 'detached' })
      await again.reload()
      await again.getByLabel('Password').waitFor()
    })

    test('return to their page after the session ended and they have logged in again', async () => {
      await proxy.query(`select create_project('drafts', 'free')`)
      const context = await browser.newContext()
      const tab = await context.newPage()
      await logIn(tab, root)
      await tab.goto(`${root}/dashboard/projects`)
      await tab.getByRole('link', { name: 'drafts' }).click()
      await tab.getByRole('link', { name: 'Cache and models' }).click()
      await tab.getByRole('link', { name: 'Models and routing' }).click()
      const models = tab.getByLabel('Allowed models')
      await models.fill('openai/*')
      const logInAgain = async (email: string, password: string) => {
        await tab.getByText('Your session has ended.', { exact: false }).waitFor()
        expect(await models.isVisible()).toBe(false)
        await tab.getByLabel('E-mail address').fill(email)
        await tab.getByLabel('Password').fill(password)
        await tab.getByRole('button', { name: 'Log in' }).click()
      }
      // The server deletes the session; the cookie remains.
      await proxy.query('delete from sessions')
      await tab.getByRole('button', { name: 'Save settings' }).click()
      await logInAgain(ADMINISTRATOR, PASSWORD)
      await tab.getByRole('button', { name: 'Save settings' }).click()
      await tab.getByText('Saved.', { exact: false }).waitFor()
      const [saved] = await proxy.query<{ models: string[] }>(
        `select allowed_models as models from projects where name = 'drafts'`,
      )
      expect(saved?.models).toEqual(['openai/*'])

      // Another user does not see the draft.
      await models.fill('anthropic/*')
      await proxy.query(
        `select create_user('other@example.org', 'owner', (select password_hash from users where id = 1))`,
      )
      await proxy.query('delete from sessions')
      await tab.getByRole('button', { name: 'Save settings' }).click()
      await logInAgain('other@example.org', PASSWORD)
      await tab.getByText('other@example.org').waitFor()
      await models.waitFor()
      expect(await models.inputValue()).toBe('openai/*')
      await context.close()
      await page.goto(`${root}/dashboard`)
      await logIn(page, root)
    })

    test('use dialogs with the keyboard alone: the first field has the focus, and the opening button gets it back', async () => {
      await page.goto(`${root}/dashboard/projects`)
      const opener = page.getByRole('button', { name: 'Create project' })
      const focused = page.locator(':focus')
      const leave: Record<string, () => Promise<void>> = {
        Escape: () => page.keyboard.press('Escape'),
        'the button': () => page.getByRole('button', { name: 'Close' }).press('Enter'),
        'what it is for': async () => {
          await page.keyboard.type('by-keyboard')
          await page.keyboard.press('Enter')
        },
      }
      for (const [name, close] of Object.entries(leave)) {
        await opener.press('Enter')
        await page.getByRole('dialog').waitFor()
        await page.getByLabel('Name').and(focused).waitFor()
        await close()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        if (name !== 'what it is for') await opener.and(focused).waitFor()
      }
      expect((await proxy.query(`select from projects where name = 'by-keyboard'`)).length).toBe(1)

      // A row's button also gets the focus back.
      await page.goto(`${root}/dashboard/projects`)
      const archive = page.getByRole('button', { name: 'Archive by-keyboard' })
      await archive.press('Enter')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await archive.and(focused).waitFor()
    })

    test('end their sessions one by one', async () => {
      const other = await (await browser.newContext({ userAgent: 'The other browser' })).newPage()
      await logIn(other, root)
      await page.getByRole('link', { name: 'Account' }).click()
      const row = page.getByRole('row').filter({ hasText: 'The other browser' })
      await row.getByRole('button', { name: /^Revoke/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke session' }).click()
      await row.waitFor({ state: 'detached' })
      expect(await page.getByRole('row').filter({ hasText: 'Current session' }).count()).toBe(1)
      await other.reload()
      await other.getByLabel('Password').waitFor()
    })

    test('change their password with the keyboard alone, and stay on the page', async () => {
      const [current, next] = [page.getByLabel('Current password'), page.getByLabel('New password')]
      for (const [password, message] of [
        ['not this one', 'Wrong'],
        [PASSWORD, 'Password changed.'],
      ]) {
        await current.fill(password ?? '')
        await next.fill('another long password')
        await next.press('Enter')
        await page
          .getByText(message ?? '', { exact: false })
          .first()
          .waitFor()
        await next.and(page.locator(':focus')).waitFor()
      }
      await expect.poll(async () => [await current.inputValue(), await next.inputValue()]).toEqual(['', ''])
    })
  })
})

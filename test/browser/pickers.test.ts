/** Fields that search for existing values, with a keyboard and on a phone, and the budget of a key. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { chromiumPath, logIn, NO_CHROMIUM, openBrowser } from './open-browser.ts'
import { addAdministrator, seedUsage } from './seed.ts'

const title = chromiumPath ? 'in chromium' : NO_CHROMIUM
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe.skipIf(!chromiumPath)(title, () => {
  describeOnce('pickers', backend => {
    let browser: Browser
    const proxy = duringTests(() =>
      startProxy({
        dashboard: true,
        stores: backend.open(),
        environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, AGGREGATOR_API_KEY: 'sk-aggregator' },
      }),
    )
    let page: Page
    let settings: string
    beforeAll(async () => {
      await addAdministrator(proxy)
      const { project } = await seedUsage(proxy)
      browser = await openBrowser()
      page = await (await browser.newContext()).newPage()
      const root = proxy.rootUrl
      await logIn(page, root)
      settings = `${root}/dashboard/${project}/settings`
    })
    afterAll(() => browser?.close())

    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    const focused = () => page.evaluate('document.activeElement?.getAttribute("role")')

    test('choose several models with the keyboard alone', async () => {
      await page.goto(`${settings}/keys`)
      await row('staging')
        .getByRole('button', { name: /^Edit limits/ })
        .click()
      const dialog = page.getByRole('dialog')
      const models = dialog.getByRole('combobox', { name: 'Models' })
      await models.press('ArrowDown')
      await dialog.getByRole('listbox').waitFor()
      expect(await models.getAttribute('aria-expanded')).toBe('true')
      await models.pressSequentially('gpt-4o-mini')
      const first = dialog.getByRole('option').first()
      await first.getByText('gpt-4o-mini', { exact: true }).waitFor()
      await expect.poll(() => models.getAttribute('aria-activedescendant')).toBe(await first.getAttribute('id'))
      await models.press('Enter')
      await dialog.getByRole('button', { name: 'Remove gpt-4o-mini' }).waitFor()
      await models.pressSequentially('anthropic/*')
      await dialog.getByRole('option', { name: 'Use “anthropic/*”' }).waitFor()
      await dialog.getByText('No model matches “anthropic/*”.').waitFor()
      await models.press('Enter')
      await models.pressSequentially('other')
      // The first Escape closes the list, and not the dialog.
      await models.press('Escape')
      await dialog.getByRole('listbox').waitFor({ state: 'detached' })
      expect([await models.inputValue(), await focused()]).toEqual(['', 'combobox'])
      await models.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await row('staging').getByText('gpt-4o-mini, anthropic/*').waitFor()
    })

    test('remove a chosen value with Backspace', async () => {
      await row('staging')
        .getByRole('button', { name: /^Edit limits/ })
        .click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('combobox', { name: 'Models' }).press('Backspace')
      await dialog.getByRole('button', { name: 'Save limits' }).click()
      await dialog.waitFor({ state: 'detached' })
      await row('staging').getByText('gpt-4o-mini', { exact: true }).waitFor()
    })

    test('set the budget of a key where keys are listed, and of a new key', async () => {
      await row('production')
        .getByRole('button', { name: /^Set budget/ })
        .click()
      await page.getByLabel('Amount').fill('12.5')
      await page.getByRole('dialog').getByRole('button', { name: 'Save budget' }).click()
      await row('production').getByText('of $12.50 spent, monthly').waitFor()
      await page.getByRole('button', { name: 'Create API key' }).click()
      await page.getByLabel('Name').fill('with a budget')
      await page.getByRole('dialog').getByLabel('Budget').fill('3')
      await page.getByLabel('Period').selectOption('day')
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByTestId('shown-once').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await row('with a budget').getByText('of $3.00 spent, daily').waitFor()
    })

    test('add a budget of a key and of a tag without typing an id', async () => {
      await page.goto(`${settings}/limits`)
      await page.getByRole('button', { name: 'Add budget' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Amount').fill('7')
      await dialog.getByLabel('Applies to').selectOption('api_key_id')
      await dialog.getByLabel('API key').fill('stag')
      await dialog.getByRole('option', { name: /^staging/ }).click()
      expect(await dialog.getByLabel('API key').inputValue()).toBe('staging')
      await dialog.getByLabel('Time zone').fill('vienna')
      await dialog.getByRole('option', { name: 'Europe/Vienna' }).click()
      await dialog.getByRole('button', { name: 'Add budget' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(
        await proxy.query(
          `select k.name, b.time_zone from budgets b join api_keys k on k.id = b.key_id where b.amount = 7`,
        ),
      ).toEqual([{ name: 'staging', time_zone: 'Europe/Vienna' }])
    })

    test('keep a name that matches nothing, and do not send it', async () => {
      await page.getByRole('button', { name: 'Add budget' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Amount').fill('8')
      await dialog.getByLabel('Applies to').selectOption('api_key_id')
      await dialog.getByLabel('API key').fill('nothing like this')
      await dialog.getByRole('button', { name: 'Add budget' }).click()
      await dialog.getByText('No API key matches “nothing like this”. Choose one from the list.').waitFor()
      expect(await proxy.query('select from budgets b where b.amount = 8')).toEqual([])
      await dialog.getByRole('button', { name: 'Cancel' }).click()
    })

    test('a leaked key is found by its text and revoked, and is restored', async () => {
      const [{ key = '' } = {}] = await proxy.query<{ key: string }>(
        `select issue_key('acme-support', 'test', 'leaked') as key`,
      )
      await page.goto(`${settings}/keys?all=true`)
      await page.getByRole('button', { name: 'Find a leaked key' }).click()
      const dialog = page.getByRole('dialog', { name: 'Find a leaked key' })
      await dialog.getByLabel('Key').fill(`token=${key}`)
      await dialog.getByRole('button', { name: 'Find key' }).click()
      await dialog.getByText('API key of acme-support').waitFor()
      await dialog.getByRole('button', { name: 'Revoke leaked' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
      await dialog.getByText('Deactivated').waitFor()
      expect(page.url()).not.toContain(key)
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await row('leaked')
        .getByRole('button', { name: /^Restore/ })
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Restore key' }).click()
      await row('leaked').getByText('Active', { exact: true }).waitFor()
    })

    test('fit a phone, and can be used by touch', async () => {
      const context = await browser.newContext({ viewport: { width: 320, height: 640 }, hasTouch: true })
      const phone = await context.newPage()
      await logIn(phone, settings.slice(0, settings.indexOf('/dashboard')))
      await phone.goto(`${settings}/limits`)
      await phone.getByRole('button', { name: 'Add budget' }).tap()
      const dialog = phone.getByRole('dialog')
      await dialog.getByLabel('Applies to').selectOption('tag')
      await dialog.getByLabel('Tag').tap()
      const option = dialog.getByRole('option', { name: 'team=search' })
      const box = await option.boundingBox()
      expect(box && box.x >= 0 && box.x + box.width <= 320 && box.height >= 36).toBe(true)
      await option.tap()
      expect(await dialog.getByLabel('Tag').inputValue()).toBe('team=search')
      expect(await phone.evaluate(OVERFLOW)).toBe(0)
      await context.close()
    })
  })
})

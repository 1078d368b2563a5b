/** Debian's chromium, driven by playwright-core. */
import { type Browser, chromium, type Page } from 'playwright-core'
import { EMAIL, PASSWORD } from './seed.ts'

/** Null where none is installed; browser tests say so and are skipped. */
export const chromiumPath = Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome')

export const NO_CHROMIUM = 'skipped: chromium is not installed (apt-get install chromium)'

/** Loopback only: whatever a browser likes to fetch for itself is turned off. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
]

/** Far longer than it takes on a busy machine. */
const LAUNCHED_WITHIN_MS = 60_000

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath ?? 'chromium', args: FLAGS, timeout: LAUNCHED_WITHIN_MS })
}

export async function logIn(page: Page, root: string, email = EMAIL, password = PASSWORD): Promise<void> {
  await page.goto(`${root}/dashboard`)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  // The menu is folded away on a phone.
  await page.locator('main#content').waitFor()
}

/** Every page of a project and of the installation. */
export function pagesOf(project: string): [name: string, path: string][] {
  return [
    ['overview', `/${project}/overview?span=month`],
    ['requests', `/${project}/requests`],
    ['matches', `/${project}/cache`],
    ['near-misses', `/${project}/cache?view=near-misses`],
    ['verdicts', `/${project}/cache?view=verdicts`],
    ['similarity', `/${project}/cache?view=similarity`],
    ['policy', `/${project}/settings/policy`],
    ['answers', `/${project}/cache?view=answers`],
    ['playground', `/${project}/playground`],
    ['settings', `/${project}/settings`],
    ['keys', `/${project}/settings/keys?all=true`],
    ['provider-keys', `/${project}/settings/provider-keys`],
    ['webhooks', `/${project}/settings/webhooks`],
    ['limits', `/${project}/settings/limits`],
    ['members', `/${project}/settings/members`],
    ['audit', `/${project}/audit`],
    ['projects', '/projects'],
    ['users', '/users'],
    ['account', '/account'],
  ]
}

/** Until the page has what it shows. */
export async function waitForPage(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
}

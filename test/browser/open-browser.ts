/** Debian's chromium, controlled by playwright-core. */
import { basename } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { EMAIL, PASSWORD } from './seed.ts'

/** Null if no browser is installed. Browser tests are then skipped with that reason. */
export const chromiumPath = Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome')

export const NO_CHROMIUM = 'skipped: chromium is not installed (apt-get install chromium)'

/** The tests use only the loopback interface, so the browser's own network requests are disabled. */
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

/** The limit for a start, a page load, or an element that never appears. */
const HANGS_AFTER_MS = 120_000

export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath ?? 'chromium',
    args: FLAGS,
    timeout: HANGS_AFTER_MS,
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async options => {
    const context = await newContext(options)
    context.setDefaultTimeout(HANGS_AFTER_MS)
    return context
  }
  return browser
}

export async function logIn(page: Page, root: string, email = EMAIL, password = PASSWORD): Promise<void> {
  await page.goto(`${root}/dashboard`)
  await submitLogin(page, email, password)
}

/** Logs in where the page asks for it, which then shows what its address names. */
export async function submitLogin(page: Page, email = EMAIL, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  // By the keyboard: a pointer on the button would then be over a link of the next page, whose code is loaded ahead.
  await page.getByLabel('Password').press('Enter')
  // On a phone, the menu is collapsed.
  await page.locator('main#content').waitFor()
}

/** The table of pages. It belongs to another TypeScript project. */
const { href } = new URL('../../src/dashboard/pages/pages.ts', import.meta.url)
const { PAGE_ENTRIES }: { PAGE_ENTRIES: readonly { path: string; load?(): unknown; link?: unknown }[] } = await import(
  href
)

/** Views of a page by its path, each with a name and a query. Other pages have one view, named after the last part of the path. */
const VIEWS: Record<string, [name: string, query: string][]> = {
  '/$project/overview': [['overview', '?span=month']],
  '/$project/cache': [
    ['matches', ''],
    ['near-misses', '?view=near-misses'],
    ['verdicts', '?view=verdicts'],
    ['similarity', '?view=similarity'],
    ['answers', '?view=answers'],
    ['sharing', '?view=sharing'],
  ],
  '/$project/settings/keys': [['keys', '?all=true']],
  '/$project/settings/policy': [
    ['policy', ''],
    ['policy-sharing', '/sharing'],
    ['policy-models', '/models'],
    ['policy-spending', '/spending'],
  ],
  '/audit': [['whole-audit', '']],
}

/** Returns every page that the menu links to. */
export function pagesOf(project: string): [name: string, path: string][] {
  return PAGE_ENTRIES.filter(({ link }) => link).flatMap(({ path }) => {
    const views = VIEWS[path] ?? [[basename(path), '']]
    return views.map(([name, query]): [string, string] => [name, `${path.replace('$project', project)}${query}`])
  })
}

/** Returns the module below `screens` of each page that the menu links to, by the page's name. */
export function modulesOfPages(): Record<string, string> {
  // A page of the first file has no function that loads it, and a module of its path's name.
  const modules = new Map(
    PAGE_ENTRIES.map(({ path, load }) => [path, /screens\/([\w-]+)/.exec(`${load}`)?.[1] ?? basename(path)]),
  )
  const names = PAGE_ENTRIES.filter(({ link }) => link).flatMap(({ path }) =>
    (VIEWS[path] ?? [[basename(path), '']]).map(([name]) => [name, modules.get(path) ?? ''] as const),
  )
  return Object.fromEntries(names)
}

/** Waits until the page shows its data. */
export async function waitForPage(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
}

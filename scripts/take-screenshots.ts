/**
 * Takes screenshots of the dashboard's pages for docs/dashboard: light, dark and on a phone. Needs chromium. Usage: take-screenshots.ts
 * [FOLDER] [PAGE…]. Records the sources of the pictures in docs/dashboard, which `bun run check` compares.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import { openEmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createInProcessStore } from '../src/stores/in-process-store.ts'
import { logIn, modulesOfPages, openBrowser, pagesOf, waitForPage } from '../test/browser/open-browser.ts'
import { addAdministrator, seedMatches, seedUsage } from '../test/browser/seed.ts'
import { TEST_ENCRYPTION_KEY } from '../test/harness/direct-upstreams.ts'
import { OLDER_PARTITION } from '../test/harness/older-partition.ts'
import { startProxy } from '../test/harness/proxy.ts'
import { hashPictures, RECORD } from './picture-sources.ts'

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const

const [folder = 'docs/dashboard', ...only] = process.argv.slice(2)
await mkdir(folder, { recursive: true })

const database = await openEmbeddedDatabase({ directory: null, psql: null })
await migrate(database)
await database.runScript(OLDER_PARTITION)
const stores = { database, store: createInProcessStore(), databaseUrl: null, redisUrl: null }
const proxy = await startProxy({ dashboard: true, stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } })
await addAdministrator(proxy)
const seeded = await seedUsage(proxy)
const { project } = seeded
await seedMatches(proxy, seeded)
await proxy.settle()

/** A page whose picture is taken from another one. */
const SHOWN_AFTER: Record<string, string> = { requests: 'request', keys: 'new-key' }
const taken = new Set<string>()
const root = proxy.rootUrl
const browser = await openBrowser()
for (const { name: look, ...options } of LOOKS) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const shoot = (name: string) => {
    taken.add(name)
    return page.screenshot({ path: `${folder}/${name}-${look}.png` })
  }
  await page.goto(`${root}/dashboard`)
  await page.getByLabel('Password').waitFor()
  await shoot('login')
  await logIn(page, root)
  for (const [name, path] of pagesOf(project)) {
    if (only.length > 0 && !only.includes(name) && !only.includes(SHOWN_AFTER[name] ?? '')) continue
    await page.goto(`${root}/dashboard${path}`)
    await waitForPage(page)
    if (name === 'playground') await askInPlayground(page)
    await page.waitForLoadState('networkidle')
    await page.waitForTimeout(500)
    await shoot(name)
    if (name === 'requests') await shootRequest(page, shoot)
    if (name === 'keys') await shootNewKey(page, look, shoot)
  }
  await context.close()
}
await recordSources()
await browser.close()
await proxy.stop()
await database.close()

/** Adds the sources of the taken pictures to the record. */
async function recordSources(): Promise<void> {
  if (folder !== dirname(RECORD)) return
  const record = Bun.file(RECORD)
  const before: Record<string, string> = (await record.exists()) ? await record.json() : {}
  const current = await hashPictures(modulesOfPages())
  const after = Object.keys(current).map(name => [name, taken.has(name) ? current[name] : before[name]] as const)
  await Bun.write(record, `${JSON.stringify(Object.fromEntries(after), null, 2)}\n`)
}

async function askInPlayground(page: Page): Promise<void> {
  await page.getByLabel('Message').fill('Could you please tell me how to reset my password?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('x-proxy-cache-reason').waitFor()
}

async function shootRequest(page: Page, shoot: (name: string) => Promise<unknown>): Promise<void> {
  // On a phone, requests are cards.
  await page.locator('main tbody a, main li a').nth(7).click()
  await page.getByRole('heading', { level: 1, name: 'Request details' }).waitFor()
  await page.getByText('Request ID').waitFor()
  await shoot('request')
}

async function shootNewKey(page: Page, look: string, shoot: (name: string) => Promise<unknown>): Promise<void> {
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByLabel('Name').fill(`for the ${look} picture`)
  await page.getByLabel('Type').selectOption('test')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByTestId('shown-once').waitFor()
  await shoot('new-key')
}

/** Checks a page for barriers with axe. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Returns all violations that axe finds. */
export async function findViolations(page: Page): Promise<string[]> {
  // Passed as text through the debugger, to which the page's content security policy does not apply.
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `axe.run({ resultTypes: ['violations'] })`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
}

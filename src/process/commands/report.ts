/**
 * `report [--project NAME] [--month 2026-10] [--to FILE]`: a month for the people who pay, as a page of HTML with plots, and as PDF beside it
 * where chromium is installed.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { type MonthlyReport, renderReport } from './render-report.ts'

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']
const PRINTED_WITHIN_MS = 60_000

export async function run(args: readonly string[]): Promise<number> {
  const text = { type: 'string', default: '' } as const
  const { values } = parseArgs({ args: [...args], options: { project: text, month: text, to: text } })
  const { project, month } = values
  const report = (await withOperatorDatabase(readConfig(), database =>
    callFunction(database.readReplica, 'monthly_report', { project, month }),
  )) as MonthlyReport
  const file = resolve(values.to || `report-${report.month}.html`)
  await Bun.write(file, renderReport(report))
  const pdf = await printPdf(file)
  process.stdout.write(
    `${file}\n${pdf ?? 'No PDF: chromium is not installed, or did not print it. Any browser prints the page.'}\n`,
  )
  return 0
}

/** Returns the file; null where there is no browser that prints it. */
async function printPdf(file: string): Promise<string | null> {
  const browser = BROWSERS.map(name => Bun.which(name)).find(path => path !== null)
  if (!browser) return null
  const pdf = file.replace(/(\.html?)?$/, '.pdf')
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-pdf-header-footer', `--print-to-pdf=${pdf}`]
  const options = { stdout: 'ignore', stderr: 'ignore', timeout: PRINTED_WITHIN_MS } as const
  const { exitCode } = Bun.spawnSync([browser, ...flags, pathToFileURL(file).href], options)
  return exitCode === 0 && (await Bun.file(pdf).exists()) ? pdf : null
}

/**
 * `report [--project NAME] [--month 2026-10] [--to FILE]`: writes a monthly report as an HTML page, and as a PDF file beside it if chromium is
 * installed.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { type MonthlyReport, renderReport } from '../../admin/render-report.ts'
import { readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']
const PRINT_TIME_LIMIT_MS = 60_000

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
    `${file}\n${pdf ?? 'No PDF was written: chromium is not installed, or failed. Print the page from any browser.'}\n`,
  )
  return 0
}

/** Prints the page to a PDF file. Returns its path; null if there is no browser, or if it failed. */
async function printPdf(file: string): Promise<string | null> {
  const browser = BROWSERS.map(name => Bun.which(name)).find(path => path !== null)
  if (!browser) return null
  const pdf = file.replace(/(\.html?)?$/, '.pdf')
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-pdf-header-footer', `--print-to-pdf=${pdf}`]
  const options = { stdout: 'ignore', stderr: 'ignore', timeout: PRINT_TIME_LIMIT_MS } as const
  const { exitCode } = Bun.spawnSync([browser, ...flags, pathToFileURL(file).href], options)
  return exitCode === 0 && (await Bun.file(pdf).exists()) ? pdf : null
}

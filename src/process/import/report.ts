/** What an import does: what becomes what, and what has no counterpart. No line contains a secret. */
import { formatCommand } from '../../config/operator-command.ts'

/** One object of the other gateway, and what it becomes. */
export interface ReportLine {
  kind: 'model' | 'project' | 'key' | 'user' | 'budget' | 'setting'
  from: string
  to: string
  /** How its effect differs; '' if it does not. */
  note: string
}

export class ImportReport {
  readonly lines: ReportLine[] = []
  /** Reasons by setting. */
  readonly #omitted = new Map<string, { reason: string; count: number }>()

  add(kind: ReportLine['kind'], from: string, to: string, note = ''): void {
    this.lines.push({ kind, from, to, note })
  }

  /** Records a setting without a counterpart. Several objects with the same setting are counted. */
  omit(setting: string, reason: string): void {
    const known = this.#omitted.get(setting)
    if (known) known.count++
    else this.#omitted.set(setting, { reason, count: 1 })
  }

  /** Records that a vendor's key is not imported. The command that stores one follows the reason. */
  omitKey(vendor: string, reason: string): void {
    this.omit(`key of vendor ${vendor}`, `${reason} ${formatCommand('set-vendor')} ${vendor} --key -`)
  }

  get omitted(): readonly { setting: string; reason: string; count: number }[] {
    return [...this.#omitted].map(([setting, entry]) => ({ setting, ...entry }))
  }
}

/** The number of keys and budgets that are listed one by one. */
const MAX_LISTED = 500

/** Formats both tables; '' if nothing was read. */
export function formatReport(report: ImportReport, gateway: string): string {
  if (report.lines.length + report.omitted.length === 0) return ''
  const listed = report.lines.filter(
    ({ kind }, at) => !['key', 'budget'].includes(kind) || at < MAX_LISTED || report.lines.length <= MAX_LISTED,
  )
  const hidden = report.lines.length - listed.length
  const table = formatTable([
    ['', gateway.toUpperCase(), 'HERE', 'DIFFERENCE'],
    ...listed.map(({ kind, from, to, note }) => [kind, from, to, note]),
  ])
  const more = hidden > 0 ? `… and ${hidden} more keys and budgets\n` : ''
  const omitted = report.omitted.map(({ setting, reason, count }) => [
    count === 1 ? setting : `${setting} (${count} times)`,
    reason,
  ])
  return omitted.length === 0
    ? `${table}${more}\nEvery setting has a counterpart.\n`
    : `${table}${more}\n${formatTable([['WITHOUT A COUNTERPART', 'REASON'], ...omitted])}`
}

const MAX_WIDTH = 60

/** Left-aligned columns with two spaces between them. Control characters in names are replaced. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const clean = rows.map(row => row.map(cell => cell.replace(/\p{Cc}/gu, '\u{fffd}')))
  const widths =
    clean[0]?.map((_, at) => Math.min(MAX_WIDTH, Math.max(...clean.map(row => row[at]?.length ?? 0)))) ?? []
  const lines = clean.map(row => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  return lines.map(line => `${line.trimEnd()}\n`).join('')
}

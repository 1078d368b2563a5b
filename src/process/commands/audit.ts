/**
 * `audit [--from TIME] [--to TIME] [--project NAME] [--json]`: compares the admissions, reservations, settlements and records of a period with
 * limits, budgets and each other. Prints a line for each finding and a summary. Progress goes to standard error.
 */
import { parseArgs } from 'node:util'
import { readConfig } from '../../config/config.ts'
import { formatCommand } from '../../config/operator-command.ts'
import { toSingleLine } from '../../errors/errors.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import { AUDIT_KINDS } from '../../postgres/seeds.generated.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

/** The exit code if the audit could not run. */
export const failureExitCode = 2

/** The time limit of one part, which reads all records of a partition. */
const STATEMENT_TIME_LIMIT_MS = 3_600_000
const MAX_TEXT_LENGTH = 300

type Finding = RowOf<'run_audit_part'>

const USAGE = `Usage: ${formatCommand('audit')} [--from TIME] [--to TIME] [--project NAME] [--json]

Compares admissions, reservations, settlements and records with limits, budgets and each other. Proxies may be running.

  --from TIME     the start of the period, such as 2026-11-01 (UTC) or 2026-11-01T12:00:00Z; 31 days ago by default
  --to TIME       the end of the period; two minutes ago by default, because later records may not be text yet
  --project NAME  a single project; all projects by default
  --json          prints one JSON object instead of lines

Exits with 0 without violations, with 1 for violations, and with 2 if it could not run. Notices are no violations.

Kinds of findings:

`

export async function run(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const options = { from: text, to: text, project: text, json: flag, help: flag }
  const { values } = parseArgs({ args: [...args], options })
  if (values.help) {
    const lines = AUDIT_KINDS.map(({ kind, severity, meaning }) => `  ${kind} (${severity}): ${meaning}\n`)
    process.stdout.write(`${USAGE}${lines.join('')}`)
    return 0
  }
  const period = { from_time: readTime('from', values.from), until_time: readTime('to', values.to) }
  const { project = null, json } = values
  return withOperatorDatabase(
    readConfig(),
    async database => {
      const startedAtMs = performance.now()
      const parts = await callFunction(database, 'audit_parts', period)
      const findings: Finding[] = []
      for (const { part, begins, ends } of parts) {
        process.stderr.write(`${part}, ${describeTime(begins)} to ${describeTime(ends)} ...\n`)
        const found = await callFunction(database, 'run_audit_part', {
          part,
          from_time: begins,
          until_time: ends,
          project,
        })
        findings.push(...found)
        if (!json) for (const finding of found) process.stdout.write(`${describeFinding(finding)}\n`)
      }
      const violations = findings.filter(({ severity }) => severity === 'violation').length
      const notices = findings.length - violations
      const whole = parts.find(({ part }) => part === 'quotas')
      if (json) {
        const about = { from: whole?.begins, to: whole?.ends, project, violations, notices }
        process.stdout.write(`${JSON.stringify({ ...about, findings })}\n`)
      } else {
        const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
        const where = whole && `${describeTime(whole.begins)} to ${describeTime(whole.ends)}`
        process.stdout.write(
          `${violations} violations, ${notices} notices: ${where}, ${project ?? 'all projects'}, in ${seconds} s\n`,
        )
      }
      return violations > 0 ? 1 : 0
    },
    { statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS },
  )
}

function readTime(name: string, text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new Error(`--${name} must be a date or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z`)
  return time
}

/** Formats a finding in one line. Request ids and names of models come from clients, so control characters are replaced. */
function describeFinding({ severity, kind, project, api_key, at, subject, expected, found }: Finding): string {
  const about = [severity, kind, project ?? '-', api_key ?? '-', describeTime(at)].join(' ')
  return toSingleLine(`${about} ${subject}: expected ${expected}; found ${found}`, MAX_TEXT_LENGTH)
}

function describeTime(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Compares the responses that clients received with the proxies' counts and records. */
import { fileURLToPath } from 'node:url'
import type { RowOf } from '../../src/postgres/call.ts'
import type { Answered, Ledger } from './ledger.ts'
import type { Outage } from './outages.ts'
import { LIMITED_PER_MINUTE, type ProjectName, readBooks } from './stores.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const HOUR_MS = 3_600_000
/**
 * Violations that a store's outage explains: without Redis, each process has rate windows of its own; a crash of PostgreSQL loses the last
 * counts.
 */
const EXPLAINED: Record<string, Outage['kind']> = { rate_exceeded: 'redis', request_not_counted: 'postgres' }

/** Runs the audit command as an operator does. Returns the violations that no outage explains. */
export async function runAudit(url: string, { hadOutage }: Ledger): Promise<string[]> {
  const command = [process.execPath, SERVER, 'audit', '--json', '--to', new Date(Date.now() + HOUR_MS).toISOString()]
  const environment = { ...process.env, DATABASE_URL: url }
  const auditing = Bun.spawn(command, { env: environment, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [told, problems] = await Promise.all([
    new Response(auditing.stdout).text(),
    new Response(auditing.stderr).text(),
  ])
  if (((await auditing.exited) ?? 2) > 1) return [`the audit could not run: ${problems}`]
  const { findings } = JSON.parse(told) as { findings: RowOf<'run_audit_part'>[] }
  const isExplained = ({ kind }: { kind: string }) => {
    const outage = EXPLAINED[kind]
    return outage !== undefined && hadOutage(outage, 0, Date.now())
  }
  process.stdout.write(`audit: ${findings.map(({ kind }) => kind).join(', ') || 'no findings'}\n`)
  return findings
    .filter(finding => finding.severity === 'violation' && !isExplained(finding))
    .map(finding => `audit: ${JSON.stringify(finding)}`)
}

/** Returns descriptions of the mismatches; empty if there are none. */
export async function checkBooks(url: string, project: ProjectName, ledger: Ledger): Promise<string[]> {
  const asked = ledger.answered.filter(one => one.project === project)
  const booked = await readBooks(url, project)
  const whole = new Map(asked.filter(one => one.isWhole && one.status === 200).map(one => [one.id, one]))
  const mayBeRecorded = new Set(
    asked.filter(one => one.isWhole || one.hasLeft || one.status === 200 || wasCut(one, ledger)).map(one => one.id),
  )
  const recorded = new Map<string, number>()
  for (const { id, status } of booked.records) if (status === 200) recorded.set(id, (recorded.get(id) ?? 0) + 1)

  const missing = [...whole.values()].filter(one => !recorded.has(one.id))
  const lost = missing.filter(one => !ledger.mayBeForgotten(one))
  const twice = [...recorded].filter(([, times]) => times > 1)
  const made = [...recorded.keys()].filter(id => !mayBeRecorded.has(id))
  const left = booked.records.filter(one => one.status === 499).length
  const answers = recorded.size
  const forgettable = asked.filter(one => ledger.mayBeForgotten(one) || wasCut(one, ledger)).length

  const faults: string[] = []
  const tell = (count: number, what: string, example = '') => {
    if (count > 0) faults.push(`${project}: ${count} ${what}${example && `, for example ${example}`}`)
  }
  tell(lost.length, 'responses are not recorded', lost[0]?.id)
  tell(twice.length, 'responses are recorded more than once', twice[0]?.[0])
  tell(made.length, 'requests without a response are recorded as successful', made[0])
  const brokenOff = asked.filter(
    one => one.status === 200 && !one.isWhole && !one.hasLeft && recorded.has(one.id) && !wasCut(one, ledger),
  )
  tell(brokenOff.length, 'incomplete responses are recorded as successful', JSON.stringify(brokenOff[0]))
  // A request whose client disconnected counts only if it reached the upstream, which the client does not know.
  if (booked.counted < answers - forgettable || booked.counted > answers + left + forgettable) {
    faults.push(
      `${project}: ${booked.counted} counted, ${answers} recorded as successful, ${left} as disconnected (${forgettable} may be lost)`,
    )
  }
  if (project === 'limited')
    faults.push(
      ...checkWindow(
        [...whole.values()].map(one => one.startedAtMs),
        ledger,
      ),
    )
  process.stdout.write(
    `${project}: ${whole.size} complete responses, ${answers} recorded (${missing.length} lost in a crash), ${booked.counted} counted, ${left} disconnected\n`,
  )
  return faults
}

/** Whether the proxy ended during the response: its record may have been written before the client received everything. */
function wasCut({ port, isWhole, hasLeft, startedAtMs, endedAtMs }: Answered, { hadOutage }: Ledger): boolean {
  return !isWhole && !hasLeft && hadOutage('proxy', startedAtMs, endedAtMs, port)
}

/**
 * Finds minutes with more responses than the limit. During a Redis outage each process may admit the last known remainder. A response
 * counts in the proxy's second, which may differ slightly from the client's.
 */
function checkWindow(startedAtMs: number[], { hadOutage, processes }: Ledger): string[] {
  const sorted = startedAtMs.toSorted((a, b) => a - b)
  const faults = sorted.flatMap((at, i) => {
    const within = sorted.findIndex((other, j) => j >= i && other - at >= WINDOW_MS)
    const count = (within < 0 ? sorted.length : within) - i
    const most = LIMITED_PER_MINUTE * (hadOutage('redis', at - WINDOW_MS, at + WINDOW_MS) ? processes : 1)
    return count > most ? [`limited: ${count} within the minute from ${new Date(at).toISOString()}`] : []
  })
  return faults.slice(0, 3)
}

const WINDOW_MS = 59_000

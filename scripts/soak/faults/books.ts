/** Holds what clients got against what the proxies counted and recorded. */
import type { Ledger } from './ledger.ts'
import { LIMITED_PER_MINUTE, type ProjectName, readBooks } from './stores.ts'

/** Faults found, in words; none is well. */
export async function checkBooks(url: string, project: ProjectName, ledger: Ledger): Promise<string[]> {
  const asked = ledger.answered.filter(one => one.project === project)
  const booked = await readBooks(url, project)
  const whole = new Map(asked.filter(one => one.isWhole && one.status === 200).map(one => [one.id, one]))
  const mayBeRecorded = new Set(
    asked.filter(one => one.isWhole || one.hasLeft || one.status === 200).map(one => one.id),
  )
  const recorded = new Map<string, number>()
  for (const { id, status } of booked.records) if (status === 200) recorded.set(id, (recorded.get(id) ?? 0) + 1)

  const missing = [...whole.values()].filter(one => !recorded.has(one.id))
  const lost = missing.filter(one => !ledger.mayBeForgotten(one.endedAtMs))
  const twice = [...recorded].filter(([, times]) => times > 1)
  const made = [...recorded.keys()].filter(id => !mayBeRecorded.has(id))
  const left = booked.records.filter(one => one.status === 499).length
  const answers = recorded.size
  const forgettable = asked.filter(one => ledger.mayBeForgotten(one.endedAtMs)).length

  const faults: string[] = []
  const tell = (count: number, what: string, example = '') => {
    if (count > 0) faults.push(`${project}: ${count} ${what}${example && `, as ${example}`}`)
  }
  tell(lost.length, 'answers are not recorded', lost[0]?.id)
  tell(twice.length, 'answers are recorded more than once', twice[0]?.[0])
  tell(made.length, 'are recorded as answered and were not', made[0])
  // Of who left, some count and some do not: whether upstream was asked for them, clients cannot know.
  if (booked.counted < answers - forgettable || booked.counted > answers + left + forgettable) {
    faults.push(
      `${project}: ${booked.counted} counted, ${answers} recorded as answered, ${left} as left (${forgettable} may be forgotten)`,
    )
  }
  if (project === 'limited') faults.push(...checkWindow([...whole.values()].map(one => one.startedAtMs)))
  process.stdout.write(
    `${project}: ${whole.size} answered, ${answers} recorded (${missing.length} forgotten in a crash), ${booked.counted} counted, ${left} left\n`,
  )
  return faults
}

/** A minute with more answers than the limit. An answer's second is the proxy's: clients see it somewhat earlier or later. */
function checkWindow(startedAtMs: number[]): string[] {
  const sorted = startedAtMs.toSorted((a, b) => a - b)
  const over = sorted.findIndex((at, i) => (sorted[i + LIMITED_PER_MINUTE] ?? Number.POSITIVE_INFINITY) - at < 59_000)
  return over < 0
    ? []
    : [`limited: more than ${LIMITED_PER_MINUTE} within a minute, from ${new Date(sorted[over] ?? 0).toISOString()}`]
}

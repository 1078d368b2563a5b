/**
 * Measures targets under the same load, in turns whose order is reversed in every round, so that noise affects all targets alike. Reports
 * processor time beside throughput, because only processor time is stable on a shared machine.
 */
import type { Subprocess } from 'bun'
import { runLoadProcess, stop } from './processes.ts'
import { readResidentMib, sumProcessorTime } from './processor-time.ts'
import { chat, OutOfPrompts, type Scenario } from './scenarios.ts'
import { withDatabase } from './stores.ts'
import type { Target, Upstream } from './targets.ts'

export interface Effort {
  connections: readonly number[]
  rounds: number
  /** Per turn. */
  seconds: number
  /** JIT compilers need about ten thousand misses. */
  warmUpSeconds: number
}

const PARTS = ['gateway', 'postgres', 'redis'] as const

/** Processor time is in microseconds per request over all rounds; the other figures are medians of the rounds. */
export interface Row extends Record<(typeof PARTS)[number] | 'together', number> {
  scenario: string
  connections: number
  target: string
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  firstEventMs: number
  /** The gateway's processor time per event of a stream, in microseconds. */
  eventUs: number
  residentMib: number
  /** Processor time per request as a multiple of the floor's; null without a floor. */
  floors: number | null
}

type Sample = Awaited<ReturnType<typeof sample>>

/** Usage records are written twice a second, after their requests. Their cost is included in the measurement. */
const WRITTEN_WITHIN_MS = 700
const WARM_UP_CONNECTIONS = 32
/** The least share of responses with the expected cache result. The first request for a question is a miss, and some misses repeat. */
const LEAST_AS_EXPECTED = 0.9

/** A target or scenario that was not measured, with the reason. */
export interface Failure {
  scenario: string
  /** Null if it concerns all targets. */
  target: string | null
  error: string
}

export interface Measured {
  rows: Row[]
  failures: Failure[]
}

interface Turns {
  target: Target
  samples: Sample[]
}

/** A failed target is omitted from its remaining turns, and a scenario without further prompts ends. Earlier measurements are reported. */
export async function measure(
  [name, scenario]: readonly [name: string, scenario: Scenario],
  all: readonly Target[],
  upstream: Upstream,
  { connections, rounds, seconds, warmUpSeconds }: Effort,
): Promise<Measured> {
  const measured: Measured = { rows: [], failures: [] }
  const failed = new Set<Target>()
  const fail = (target: Target | null, error: unknown) => {
    const failure = { scenario: name, target: target?.name ?? null, error: String(error) }
    process.stderr.write(`${name}: ${failure.target ?? 'all targets'} omitted: ${failure.error}\n`)
    measured.failures.push(failure)
  }
  /** Runs the turns whose targets have not failed. */
  async function inTurn<T extends { target: Target }>(turns: readonly T[], run: (turn: T) => Promise<void>) {
    for (const turn of turns.filter(({ target }) => !failed.has(target)))
      await run(turn).catch(error => {
        if (error instanceof OutOfPrompts) throw error
        failed.add(turn.target)
        fail(turn.target, error)
      })
  }

  const targets = all.filter(({ serves }) => serves.includes(scenario.expects))
  let turns: Turns[] = []
  const keepRows = (count: number) => measured.rows.push(...summarizeAll(turns, { name, count }))
  let count = 0
  try {
    await upstream.script(scenario.upstream ?? { kind: 'answer' })
    await inTurn(
      targets.map(target => ({ target })),
      ({ target }) => warmUp(target, scenario, warmUpSeconds),
    )
    for (count of scenario.connections ? [scenario.connections] : connections) {
      turns = targets.map(target => ({ target, samples: [] }))
      for (let round = 0; round < rounds; round++) {
        process.stderr.write(`${name}, ${count} connections, round ${round + 1}\n`)
        await inTurn(round % 2 ? turns.toReversed() : turns, async ({ target, samples }) => {
          samples.push(await takeTurn(target, scenario, upstream, { count, seconds }))
        })
      }
      keepRows(count)
      turns = []
    }
  } catch (error) {
    fail(null, error)
    keepRows(count)
  }
  return measured
}

async function warmUp(target: Target, scenario: Scenario, seconds: number): Promise<void> {
  await setSemantic(target, scenario.semantic)
  for (const body of scenario.learns ?? []) await askOnce(target, scenario.path, body)
  const connections = Math.min(WARM_UP_CONNECTIONS, scenario.connections ?? WARM_UP_CONNECTIONS)
  await load(target, scenario, connections, seconds)
}

async function takeTurn(
  target: Target,
  scenario: Scenario,
  upstream: Upstream,
  { count, seconds }: { count: number; seconds: number },
): Promise<Sample> {
  const before = (await upstream.counts()).total
  const taken = await sample(target, scenario, count, seconds)
  if (scenario.expects === 'HIT' && (await upstream.counts()).total > before)
    throw new Error(`${target.name}: the upstream was called again for a response that was cached`)
  return taken
}

/** Omits targets without measurements. */
function summarizeAll(turns: readonly Turns[], of: { name: string; count: number }): Row[] {
  const measured = turns
    .filter(({ samples }) => samples.length > 0)
    .map(({ target, samples }) => ({ target, row: summarize(samples, { ...of, target: target.name }) }))
  const floor = measured.find(({ target }) => target.isFloor)?.row
  return measured.map(({ row }) => ({ ...row, floors: floor ? row.together / floor.together : null }))
}

export async function askOnce({ name, baseUrl, headers }: Target, path: string, body: string): Promise<void> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const response = await fetch(`${baseUrl}${path}`, sent)
  if (!response.ok) throw new Error(`${name}: expected 200, got ${response.status}: ${await response.text()}`)
  await response.bytes()
}

const POLL_EVERY_MS = 20

/** Asks a target until it answers, and returns it. Throws if its process ends before, or after the limit, and then stops the process. */
export async function askUntilAnswered(
  child: Subprocess,
  limitMs: number,
  describe: () => Target | Promise<Target>,
): Promise<Target> {
  const deadline = performance.now() + limitMs
  while (true) {
    const target = await describe()
    try {
      await askOnce(target, '/chat/completions', chat('Are you there?'))
      return target
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`${target.name} ended with ${child.exitCode}`)
      if (performance.now() > deadline) {
        await stop(child)
        throw error
      }
      await Bun.sleep(POLL_EVERY_MS)
    }
  }
}

async function setSemantic({ stores }: Target, mode: Scenario['semantic']): Promise<void> {
  if (!stores) return
  const statement = `select set_setting('bench', 'semantic_mode', '${mode}')`
  await withDatabase(stores.environment.DATABASE_URL, database => database.runScript(statement))
}

async function load(
  { baseUrl, headers, name, stores }: Target,
  scenario: Scenario,
  connections: number,
  seconds: number,
) {
  const result = await runLoadProcess({
    url: `${baseUrl}${scenario.path}`,
    headers: { ...headers, ...scenario.headers },
    bodies: typeof scenario.bodies === 'function' ? scenario.bodies() : scenario.bodies,
    connections,
    ...(scenario.pauseMs && { pauseMs: scenario.pauseMs }),
    measureMs: Math.max(seconds, scenario.leastSeconds ?? 0) * 1000,
  })
  const { statuses, cacheResults, requests } = result
  if (Object.keys(statuses).some(status => status !== '200'))
    throw new Error(`${name}: expected 200, got ${JSON.stringify(statuses)}`)
  if (requests === 0) throw new Error(`${name}: no response within the measurement: increase --seconds`)
  if (stores && (cacheResults[scenario.expects] ?? 0) < requests * LEAST_AS_EXPECTED)
    throw new Error(`${name}: expected ${scenario.expects}, got ${JSON.stringify(cacheResults)}`)
  return result
}

/** Measures one turn: the load's results and the processor time of each part. */
async function sample(target: Target, scenario: Scenario, connections: number, seconds: number) {
  const before = readSpent(target)
  const result = await load(target, scenario, connections, seconds)
  const residentMib = readResidentMib(target.processes().gateway)
  await Bun.sleep(WRITTEN_WITHIN_MS)
  const after = readSpent(target)
  return { ...result, residentMib, spent: Object.fromEntries(PARTS.map(part => [part, after[part] - before[part]])) }
}

function readSpent(target: Target): Record<(typeof PARTS)[number], number> {
  const { gateway, postgres, redis } = target.processes()
  return { gateway: sumProcessorTime(gateway), postgres: sumProcessorTime(postgres), redis: sumProcessorTime(redis) }
}

function summarize(samples: readonly Sample[], of: { name: string; count: number; target: string }): Row {
  const sum = (read: (sample: Sample) => number) => samples.reduce((total, each) => total + read(each), 0)
  const middle = (read: (sample: Sample) => number) => median(samples.map(read))
  const requests = sum(each => each.requests)
  const spent = (part: (typeof PARTS)[number]) => sum(each => each.spent[part] ?? 0)
  const [gateway, postgres, redis] = [
    spent('gateway') / requests,
    spent('postgres') / requests,
    spent('redis') / requests,
  ]
  return {
    scenario: of.name,
    connections: of.count,
    target: of.target,
    requestsPerSecond: middle(each => each.requestsPerSecond),
    p50Ms: middle(each => each.p50Ms),
    p99Ms: middle(each => each.p99Ms),
    firstEventMs: middle(each => each.firstEventMs),
    gateway,
    postgres,
    redis,
    together: gateway + postgres + redis,
    eventUs:
      spent('gateway') /
      Math.max(
        1,
        sum(each => each.events),
      ),
    residentMib: middle(each => each.residentMib),
    floors: null,
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

const HEADS = [
  'at',
  '1/s',
  'p50 ms',
  'p99 ms',
  'event ms',
  'gateway',
  'postgres',
  'redis',
  'together',
  'floors',
  'µs/event',
  'MiB',
]

export function printRows(rows: readonly Row[]): void {
  const line = (name: string, target: string, cells: readonly string[]) =>
    process.stdout.write(`${name.padEnd(14)}${target.padEnd(20)}${cells.map(cell => cell.padStart(10)).join('')}\n`)
  line('scenario', 'target', HEADS)
  for (const row of rows) {
    const isStream = row.firstEventMs > 0
    const ms = [row.p50Ms, row.p99Ms].map(value => value.toFixed(2))
    const spent = [row.gateway, row.postgres, row.redis, row.together].map(value => value.toFixed(0))
    line(row.scenario, row.target, [
      ...[
        String(row.connections),
        row.requestsPerSecond.toFixed(0),
        ...ms,
        isStream ? row.firstEventMs.toFixed(2) : '',
      ],
      ...[...spent, row.floors?.toFixed(1) ?? '', isStream ? row.eventUs.toFixed(1) : '', row.residentMib.toFixed(0)],
    ])
  }
}

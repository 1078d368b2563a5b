/**
 * Runs a benchmark: floors, this proxy in each checkout, and optionally other gateways, in one scenario after the other. Prints a table and
 * writes JSON after each scenario. A failure is reported there and does not discard other results.
 *
 * Proxy, stores, upstream and load share this machine's cores: compare ratios within a run, not absolute figures. PostgreSQL and Redis must
 * run on this machine without other load, because processor time is read from /proc. Each checkout needs its own node_modules.
 */
import { parseArgs } from 'node:util'
import { fillDatabase, tellGrowth } from './growth.ts'
import { type Effort, type Failure, measure, printRows, type Row } from './measure.ts'
import { listPeers, PEER_OPTIONS } from './peers.ts'
import { SCENARIOS } from './scenarios.ts'
import { startEcho, startForwarder, startProxy, startUpstream, type Target } from './targets.ts'

export interface Defaults {
  scenarios: string
  connections: string
  rounds: string
  seconds: string
  'warm-up': string
  out: string
}

export async function runBench(defaults: Defaults): Promise<void> {
  const preset = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, text(value)]))
  const { values } = parseArgs({
    options: {
      ...(preset as Record<keyof Defaults, ReturnType<typeof text>>),
      checkouts: text('now=.'),
      ...PEER_OPTIONS,
      scale: { type: 'boolean', default: false },
      keys: text('1000000'),
      projects: text('10000'),
      records: text('10000000'),
      entries: text('1000000'),
    },
  })
  const scenarios = values.scenarios.split(',').map(name => {
    const scenario = SCENARIOS[name]
    if (!scenario) throw new Error(`unknown scenario ${name}; expected one of ${Object.keys(SCENARIOS).join(', ')}`)
    return [name, scenario] as const
  })
  const effort: Effort = {
    connections: values.connections.split(',').map(Number),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUpSeconds: Number(values['warm-up']),
  }
  const upstream = await startUpstream()
  const targets: Target[] = []
  const results = {
    at: new Date().toISOString(),
    rows: [] as Row[],
    grown: null as Row[] | null,
    failures: [] as Failure[],
  }
  /** Results are written after each scenario, so that an interrupted run has those of the finished scenarios. */
  let isEnding = false
  const save = async () => {
    // Errors that the shutdown causes are not results.
    if (!isEnding) await Bun.write(values.out, `${JSON.stringify(results, null, 2)}\n`)
  }
  const end = onceOnly(async () => {
    await Promise.allSettled(targets.map(target => target.stop()))
    await upstream.stop()
  })
  endOnSignals(() => {
    isEnding = true
    return end()
  })

  async function start(name: string, starting: () => Promise<Target>): Promise<void> {
    try {
      targets.push(await starting())
    } catch (error) {
      process.stderr.write(`${name} did not start: ${error}\n`)
      results.failures.push({ scenario: 'start', target: name, error: String(error) })
    }
  }
  async function measureAll(rows: Row[]): Promise<void> {
    for (const scenario of scenarios) {
      const measured = await measure(scenario, targets, upstream, effort)
      rows.push(...measured.rows)
      results.failures.push(...measured.failures)
      await save()
    }
    printRows(rows)
  }

  try {
    await start('echo', startEcho)
    await start('forwarder', () => startForwarder(upstream))
    for (const checkout of values.checkouts.split(',')) {
      const [name = '', root] = checkout.split('=')
      await start(name, () => startProxy(name, upstream, root))
    }
    for (const { name, starting } of listPeers(values, upstream)) await start(name, starting)
    await measureAll(results.rows)
    if (values.scale) {
      for (const { stores } of targets) if (stores) await fillDatabase(stores.environment.DATABASE_URL, values)
      results.grown = []
      await measureAll(results.grown)
    }
    await save()
    process.stdout.write(`Written to ${values.out}\n`)
    if (results.grown) tellGrowth(results.rows, results.grown)
    for (const { scenario, target, error } of results.failures)
      process.stdout.write(`Not measured: ${scenario}, ${target ?? 'all'}: ${error}\n`)
    if (results.failures.length > 0) process.exitCode = 1
  } finally {
    await end()
  }
}

function onceOnly(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= run())
}

/** The numbers by which shells report signals. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** Stops the child processes and drops the databases before the process ends. */
function endOnSignals(end: () => Promise<void>): void {
  for (const [signal, number] of Object.entries(SIGNALS))
    process.once(signal, () => void end().finally(() => process.exit(128 + number)))
}

function text(value: string) {
  return { type: 'string', default: value } as const
}

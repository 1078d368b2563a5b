/**
 * One run of a benchmark: floors, this proxy in each checkout, and other gateways where they are wanted, through one scenario after the
 * other. Prints a table and writes JSON.
 *
 * Proxy, stores, upstream and load share this machine's cores, so compare ratios within a run, not figures. PostgreSQL and Redis must run
 * on this machine, too, and for nothing else: processor time is read from /proc. Each checkout needs its own node_modules.
 */
import { parseArgs } from 'node:util'
import { fillDatabase, type Growth, tellGrowth } from './growth.ts'
import { type Effort, measure, printRows, type Row } from './measure.ts'
import { PEER_OPTIONS, startPeers } from './peers.ts'
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
    if (!scenario) throw new Error(`There is no scenario ${name}: there are ${Object.keys(SCENARIOS).join(', ')}`)
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
  const measureAll = async (): Promise<Row[]> => {
    const rows: Row[] = []
    for (const scenario of scenarios) rows.push(...(await measure(scenario, targets, upstream, effort)))
    printRows(rows)
    return rows
  }
  try {
    targets.push(await startEcho(), await startForwarder(upstream))
    for (const checkout of values.checkouts.split(',')) {
      const [name = '', root] = checkout.split('=')
      targets.push(await startProxy(name, upstream, root))
    }
    if (values.peers || values.address) targets.push(...(await startPeers(values, upstream)))
    const rows = await measureAll()
    const grown = values.scale ? await growAll(values) : null
    await Bun.write(values.out, `${JSON.stringify({ at: new Date().toISOString(), rows, grown }, null, 2)}\n`)
    process.stdout.write(`Written to ${values.out}\n`)
    if (grown) tellGrowth(rows, grown)
  } finally {
    for (const target of targets) await target.stop()
    await upstream.stop()
  }

  async function growAll(growth: Growth): Promise<Row[]> {
    for (const { stores } of targets) if (stores) await fillDatabase(stores.environment.DATABASE_URL, growth)
    return measureAll()
  }
}

function text(value: string) {
  return { type: 'string', default: value } as const
}

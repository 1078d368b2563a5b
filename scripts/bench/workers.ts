/**
 * One serving process beside several on the same port: exact hits a second, and the processor time of each in the proxies, their
 * PostgreSQL connections and Redis. The load comes from `wrk` (Debian's package of that name), because a load generator on Bun takes as much
 * of the two cores as half a proxy.
 *
 * Run: bun scripts/bench/workers.ts [--workers 1,2] [--connections 32,128,256] [--rounds 4] [--seconds 3]
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Subprocess } from 'bun'
import { findFreePort, startAndRead, startProxyProcess, stop } from './processes.ts'
import { findFamily, findStoreProcesses, sumProcessorTime } from './processor-time.ts'
import { type BenchStores, prepareStores } from './stores.ts'

const { values: options } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2' },
    connections: { type: 'string', default: '32,128,256' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '3' },
  },
})
const WARM_UP_SECONDS = 4
const QUESTIONS = 200

interface Version {
  workers: number
  proxy: Subprocess
  port: number
  stores: BenchStores
}

interface Total {
  requests: number
  rates: number[]
  proxies: number
  postgres: number
  redis: number
}

const PATH = '/v1/chat/completions'
const SCRIPT = join(tmpdir(), `workers-${process.pid}.lua`)
/** Asks the questions in turn. */
const LUA = `
local n = 0
request = function()
  n = (n + 1) % ${QUESTIONS}
  return wrk.format('POST', '${PATH}', wrk.headers, '${bodyOf("' .. n .. '")}')
end
`

function bodyOf(number: number | string): string {
  const content = `How do I replace the water filter of machine ${number}?`
  return JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] })
}

/** Its questions are stored before it is returned. */
async function start(workers: number, upstreamUrl: string): Promise<Version> {
  const stores = await prepareStores()
  const port = findFreePort()
  const upstream = { AGGREGATOR_BASE_URL: upstreamUrl, AGGREGATOR_API_KEY: 'bench' }
  const proxy = await startProxyProcess({ ...stores.environment, ...upstream, WORKERS: String(workers) }, port)
  const headers = { authorization: `Bearer ${stores.key}`, 'content-type': 'application/json' }
  for (let n = 0; n < QUESTIONS; n++) {
    const { status } = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', headers, body: bodyOf(n) })
    if (status !== 200) throw new Error(`storing an answer failed with status ${status}`)
  }
  return { workers, proxy, port, stores }
}

async function load({ port, stores }: Version, connections: number, seconds: number) {
  const child = Bun.spawn(
    [
      ...['wrk', '--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`],
      ...['--header', `Authorization: Bearer ${stores.key}`, '--header', 'Content-Type: application/json'],
      ...['--script', SCRIPT, `http://127.0.0.1:${port}${PATH}`],
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const report = await new Response(child.stdout).text()
  const requests = Number(/(\d+) requests in/.exec(report)?.[1])
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1])
  if (!(requests > 0) || report.includes('Non-2xx')) throw new Error(`wrk reports:\n${report}`)
  return { requests, rate }
}

function readAll({ proxy, stores }: Version) {
  const { postgres, redis } = findStoreProcesses(stores.environment)
  return {
    proxies: sumProcessorTime(findFamily(proxy.pid)),
    postgres: sumProcessorTime(postgres),
    redis: sumProcessorTime(redis),
  }
}

async function measure(versions: readonly Version[], connections: number): Promise<void> {
  const totals = versions.map((): Total => ({ requests: 0, rates: [], proxies: 0, postgres: 0, redis: 0 }))
  for (const version of versions) await load(version, connections, WARM_UP_SECONDS)
  for (let round = 0; round < Number(options.rounds); round++) {
    const turns = versions.map((version, i) => [version, totals[i] as Total] as const)
    for (const [version, total] of round % 2 ? turns.toReversed() : turns) {
      const before = readAll(version)
      const { requests, rate } = await load(version, connections, Number(options.seconds))
      // Records are written twice a second, after their requests, and belong to the cost.
      await Bun.sleep(700)
      const after = readAll(version)
      total.requests += requests
      total.rates.push(rate)
      for (const part of ['proxies', 'postgres', 'redis'] as const) total[part] += after[part] - before[part]
    }
  }
  for (const [i, { workers }] of versions.entries()) print(connections, workers, totals[i] as Total)
}

function print(connections: number, workers: number, { requests, rates, proxies, postgres, redis }: Total): void {
  const rate = rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)] ?? 0
  const cells = [rate, ...[proxies, postgres, redis].map(time => time / requests)]
  const text = [connections, workers, ...cells.map(Math.round)].map(cell => String(cell).padStart(12)).join('')
  process.stdout.write(`${text}\n`)
}

const upstream = await startAndRead('test/standin/main.ts', ['--port', '0'])
const versions: Version[] = []
try {
  await Bun.write(SCRIPT, LUA)
  const upstreamUrl: string = JSON.parse(upstream.firstLine).baseUrl
  for (const workers of options.workers.split(',')) versions.push(await start(Number(workers), upstreamUrl))
  process.stdout.write(
    ' connections     workers         1/s     proxies    postgres       redis (processor µs a request)\n',
  )
  for (const connections of options.connections.split(',')) await measure(versions, Number(connections))
} finally {
  await Promise.all([stop(upstream.process), ...versions.map(version => stop(version.proxy))])
  for (const { stores } of versions) await stores.drop()
  await Bun.file(SCRIPT).delete()
}

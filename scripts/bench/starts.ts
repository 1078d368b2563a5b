/**
 * Measures starts: `bun run bench --starts [--rounds 3] [--idle SECONDS]`. Starts this proxy (the built program, or else the source) and each
 * installed gateway (`peers.ts`), and prints the time until the first chat response, the processor time until then, the resident memory after
 * the idle seconds (10 by default), and the size on disk; medians of the rounds.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { $ } from 'bun'
import { askUntilAnswered } from './measure.ts'
import { listPeers } from './peers.ts'
import { findFreePort, killWithParent, stop } from './processes.ts'
import { findFamily, readResidentMib, sumProcessorTime } from './processor-time.ts'
import { prepareStores } from './stores.ts'
import { startUpstream, type Target } from './targets.ts'

interface Start {
  seconds: number
  processorSeconds: number
  residentMib: number
}

const READY_TIME_LIMIT_MS = 60_000
const BUILT = resolve(`dist/npm/${process.platform}-${process.arch}/model-proxy`)
const COMMAND = existsSync(BUILT) ? [BUILT] : [process.execPath, 'src/process/server.ts']
const INSTALLATION = existsSync(BUILT) ? BUILT : '.'
/** The key that a first start prints. */
const TEST_KEY = /\blgw_test_\w+/

const embeddedIn = (dataDir: string) => ({
  DATABASE_URL: '',
  REDIS_URL: '',
  DATA_DIR: dataDir,
  EMBEDDED_PG_PORT: '0',
})

export async function runStartBench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      starts: { type: 'boolean' },
      rounds: { type: 'string', default: '3' },
      idle: { type: 'string', default: '10' },
    },
  })
  const upstream = await startUpstream()
  const stores = await prepareStores()
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-bench-'))
  const measureEach = async (name: string, installation: string, starting: () => Promise<Target>) => {
    const starts: Start[] = []
    for (let round = 0; round < Number(values.rounds); round++)
      starts.push(await measureStart(starting, Number(values.idle)))
    await print(name, starts, installation)
  }
  try {
    const aggregator = { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'bench' }
    let dataDir = ''
    let testKey = ''
    await measureEach('PostgreSQL and Redis', INSTALLATION, () =>
      startOwn({ ...stores.environment, ...aggregator }, folder, () => stores.key),
    )
    await measureEach('embedded, first start', INSTALLATION, async () => {
      dataDir = await mkdtemp(join(folder, 'data-'))
      return startOwn(embeddedIn(dataDir), folder, output => (testKey = TEST_KEY.exec(output)?.[0] ?? ''))
    })
    await measureEach('embedded, later start', INSTALLATION, () => startOwn(embeddedIn(dataDir), folder, () => testKey))
    for (const { name, path, starting } of listPeers({ peers: true, caches: false, key: '' }, upstream))
      await measureEach(name, installationOf(path), starting)
  } finally {
    await upstream.stop()
    await stores.drop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts this proxy. `findKey` returns the API key, given what the proxy has printed; '' if it is not known yet. */
async function startOwn(
  environment: Record<string, string>,
  folder: string,
  findKey: (output: string) => string,
): Promise<Target> {
  const port = findFreePort()
  const output = join(folder, `output-${port}`)
  const child = Bun.spawn(killWithParent(COMMAND), {
    env: { ...process.env, ...environment, PORT: String(port), METRICS_PORT: '0' },
    stdout: Bun.file(output),
    stderr: 'inherit',
    stdin: 'ignore',
  })
  return askUntilAnswered(child, READY_TIME_LIMIT_MS, async () => ({
    name: 'Model Proxy',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    headers: { authorization: `Bearer ${findKey(await Bun.file(output).text())}` },
    serves: [],
    isFloor: false,
    stores: null,
    processes: () => ({ gateway: findFamily(child.pid), postgres: [], redis: [] }),
    stop: () => stop(child),
  }))
}

async function measureStart(starting: () => Promise<Target>, idleSeconds: number): Promise<Start> {
  const startedAtMs = performance.now()
  const target = await starting()
  try {
    const seconds = (performance.now() - startedAtMs) / 1000
    const processorSeconds = sumProcessorTime(target.processes().gateway) / 1e6
    await Bun.sleep(idleSeconds * 1000)
    return { seconds, processorSeconds, residentMib: readResidentMib(target.processes().gateway) }
  } finally {
    await target.stop()
  }
}

async function print(name: string, starts: readonly Start[], installation: string): Promise<void> {
  const median = (figure: keyof Start, digits: number) =>
    starts
      .map(start => start[figure])
      .sort((one, other) => one - other)
      [starts.length >> 1]?.toFixed(digits)
  const [size] = (await $`du -sm ${installation}`.text()).split('\t')
  process.stdout.write(
    `${name}: ${median('seconds', 2)} s, ${median('processorSeconds', 2)} s of processor time, ${median('residentMib', 0)} MiB idle, ${size} MiB on disk\n`,
  )
}

/** The folder that a program was installed to: a Python environment, or the packages of Node; the program alone if it is neither. */
function installationOf(program: string): string {
  const [packages] = /^.*\/node_modules(?=\/)/.exec(program) ?? []
  if (packages) return packages
  const environment = dirname(dirname(program))
  return existsSync(join(environment, 'pyvenv.cfg')) ? environment : program
}

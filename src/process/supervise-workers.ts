/** Runs several serving processes on one port: starts them, replaces those that end, passes signals on. */
import { type Config, ConfigError } from '../config/config.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { type MetricsSnapshot, mergeSnapshots, withoutGauges } from '../telemetry/metrics.ts'
import { baseUrlOf, portUnavailableError } from './listen-address.ts'
import { warnUnknownSettings } from './misspelt-settings.ts'
import { migrateDatabase, openDatabase } from './open-database.ts'
import { startMetricsServer } from './start-metrics-server.ts'
import { createStartupMessage, printStartupMessage } from './startup-message.ts'
import { spawnWorker, type WorkerProcess } from './worker-process.ts'

/** Pause before an ended worker is replaced; doubled while replacements do not get to serve. */
const LEAST_PAUSE_MS = 200
const MOST_PAUSE_MS = 10_000
/** A worker still running this long after its own limit is killed. */
const KILL_SLACK_MS = 10_000

/** Resolves when all workers serve. If one cannot, ends the others and throws. Later, a worker that ends is replaced. */
export async function superviseWorkers(config: Config): Promise<void> {
  checkPort(config)
  const log = createLog(config.logLevel)
  const database = await openDatabase(config, log)
  await Promise.all([migrateDatabase(database, log), warnUnknownSettings(log)])

  const team = new Team(config, log)
  process.on('SIGTERM', () => team.stop())
  process.on('SIGINT', () => team.stop())
  await team.start()
  startMetricsServer(config, database, () => team.metrics(), log)
  printStartupMessage(await createStartupMessage(config, database, log), baseUrlOf(config.host, config.port))
  // Each scrape asks it what is left of budgets.
  if (config.metrics.port === 0) await database.close()
}

/** Workers bind with SO_REUSEPORT, which succeeds even if another program shares the port. So the port is checked once here. */
function checkPort({ host, port }: Config): void {
  if (port === 0) throw new ConfigError(['PORT must be a port when WORKERS is more than 1. Example: PORT=3000'])
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
  } catch (error) {
    throw portUnavailableError(host, port, error)
  }
}

class Team {
  readonly #config: Config
  readonly #log: Log
  readonly #running = new Set<WorkerProcess>()
  /** What workers counted that have ended: a counter never falls. */
  #ended: MetricsSnapshot = []
  #isStopping = false

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
  }

  /** Rejects, after ending the others, when a worker does not get to serve. */
  async start(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: this.#config.workers }, () => this.#fillPlace()))
    } catch (error) {
      this.#isStopping = true
      await this.#end()
      throw error
    }
  }

  /** Passes each signal on; the process ends with its last worker. */
  stop(): void {
    const again = this.#isStopping
    this.#isStopping = true
    if (again) this.#signalAll('SIGTERM')
    else this.#end().then(code => process.exit(code))
  }

  /** What all workers measured, those that have ended too. */
  metrics(): MetricsSnapshot {
    return mergeSnapshots([...Array.from(this.#running, worker => worker.metrics()), this.#ended])
  }

  /** Keeps one worker running; rejects when its first process does not get to serve. */
  async #fillPlace(): Promise<void> {
    const first = this.#spawn()
    if (!(await first.ready)) throw new Error(`a worker ended with code ${await first.exited} before it served`)
    void this.#refill(first)
  }

  async #refill(worker: WorkerProcess): Promise<void> {
    let current = worker
    for (let pauseMs = LEAST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)) {
      if (await current.ready) pauseMs = LEAST_PAUSE_MS
      const code = await current.exited
      if (this.#isStopping) return
      this.#log.error({ pid: current.child.pid, code, pauseMs }, 'a worker ended; another takes its place')
      await this.#log.flush()
      await Bun.sleep(pauseMs)
      if (this.#isStopping) return
      current = this.#spawn()
    }
  }

  #spawn(): WorkerProcess {
    const spawned = spawnWorker(this.#log)
    this.#running.add(spawned)
    void spawned.exited.then(() => {
      this.#running.delete(spawned)
      this.#ended = mergeSnapshots([this.#ended, withoutGauges(spawned.metrics())])
    })
    return spawned
  }

  #signalAll(signal: NodeJS.Signals): Promise<number[]> {
    for (const { child } of this.#running) child.kill(signal)
    // A worker that does not serve yet has no handler and nothing to finish: the signal ends it.
    return Promise.all(
      Array.from(this.#running, ({ child, exited }) =>
        exited.then(code => (child.signalCode === 'SIGTERM' ? 0 : code)),
      ),
    )
  }

  async #end(): Promise<number> {
    const killing = setTimeout(
      () => this.#signalAll('SIGKILL'),
      this.#config.shutdownDelayMs + this.#config.shutdownTimeoutMs + KILL_SLACK_MS,
    )
    const codes = await this.#signalAll('SIGTERM')
    clearTimeout(killing)
    return Math.max(0, ...codes)
  }
}

/** Runs several serving processes on one port: starts them, replaces those that end, and forwards signals. */
import { type Config, ConfigError } from '../config/config.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { type MetricsSnapshot, mergeSnapshots, withoutGauges } from '../telemetry/metrics.ts'
import { baseUrlOf, portUnavailableError } from './listen-address.ts'
import { warnUnknownSettings } from './misspelt-settings.ts'
import { migrateDatabase, openDatabase } from './open-database.ts'
import { startMetricsServer } from './start-metrics-server.ts'
import { createStartupMessage, printStartupMessage } from './startup-message.ts'
import { spawnWorker, type WorkerProcess } from './worker-process.ts'

/** The pause before an ended worker is replaced. It doubles while replacements fail to start. */
const MIN_PAUSE_MS = 200
const MAX_PAUSE_MS = 10_000
/** A worker that still runs this long after its shutdown timeout is killed. */
const KILL_SLACK_MS = 10_000

/** Resolves once all workers serve. If one fails to start, ends the others and throws. Afterwards, replaces workers that end. */
export async function superviseWorkers(config: Config): Promise<void> {
  checkPort(config)
  const log = createLog(config.logLevel)
  const database = await openDatabase(config, log)
  await Promise.all([migrateDatabase(database, log), warnUnknownSettings(log)])

  const workers = new WorkerGroup(config, log)
  process.on('SIGTERM', () => workers.stop())
  process.on('SIGINT', () => workers.stop())
  await workers.start()
  startMetricsServer(config, database, () => workers.metrics(), log)
  printStartupMessage(await createStartupMessage(config, database, log), baseUrlOf(config.host, config.port))
  // The metrics server reads the remaining budgets from the database.
  if (config.metrics.port === 0) await database.close()
}

/** Checks the port once, because workers bind with SO_REUSEPORT, which succeeds even if another program uses the port. */
function checkPort({ host, port }: Config): void {
  if (port === 0) throw new ConfigError(['PORT must be a port when WORKERS is more than 1. Example: PORT=3000'])
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
  } catch (error) {
    throw portUnavailableError(host, port, error)
  }
}

class WorkerGroup {
  readonly #config: Config
  readonly #log: Log
  readonly #running = new Set<WorkerProcess>()
  /** The metrics of ended workers, so that counters never decrease. */
  #ended: MetricsSnapshot = []
  #isStopping = false

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
  }

  /** Starts all workers. If one fails to start, ends the others and rejects. */
  async start(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: this.#config.workers }, () => this.#startWorker()))
    } catch (error) {
      this.#isStopping = true
      await this.#end()
      throw error
    }
  }

  /** Forwards a signal to the workers. The process exits with the last worker. */
  stop(): void {
    const again = this.#isStopping
    this.#isStopping = true
    if (again) this.#signalAll('SIGTERM')
    else this.#end().then(code => process.exit(code))
  }

  /** Returns the merged metrics of all workers, including ended ones. */
  metrics(): MetricsSnapshot {
    return mergeSnapshots([...Array.from(this.#running, worker => worker.metrics()), this.#ended])
  }

  /** Keeps one worker running. Rejects if its first process fails to start. */
  async #startWorker(): Promise<void> {
    const first = this.#spawn()
    if (!(await first.ready)) throw new Error(`a worker ended with code ${await first.exited} before it served`)
    void this.#keepRunning(first)
  }

  async #keepRunning(worker: WorkerProcess): Promise<void> {
    let current = worker
    for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      if (await current.ready) pauseMs = MIN_PAUSE_MS
      const code = await current.exited
      if (this.#isStopping) return
      this.#log.error({ pid: current.child.pid, code, pauseMs }, 'a worker ended; it is replaced')
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
    // The signal ends a worker that does not serve yet, because it has no handler. It has nothing to finish.
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

/** Several serving processes on one port: starts them, replaces what ends, passes signals on. */
import { fileURLToPath } from 'node:url'
import type { Subprocess } from 'bun'
import { type Config, ConfigError } from '../config.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { watchPulse } from './heartbeat.ts'
import { baseUrlOf, migrateAndTell, openDatabase, portUnavailable } from './run-server.ts'
import { welcome } from './welcome.ts'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))
/** Before a worker that ended is replaced; doubled as long as the new one does not get to serve. */
const LEAST_PAUSE_MS = 200
const MOST_PAUSE_MS = 10_000
/** A worker that has not ended this long after its own limit will not. */
const KILL_SLACK_MS = 10_000

/** Resolves when all workers serve. Throws, having ended the others, when one cannot; later, one that ends is replaced. */
export async function superviseWorkers(config: Config): Promise<void> {
  checkPort(config)
  const log = createLog(config.logLevel)
  const database = await openDatabase(config)
  await migrateAndTell(database, log)

  const team = createTeam(config, log)
  process.on('SIGTERM', team.stop)
  process.on('SIGINT', team.stop)
  await team.start()
  await welcome(config, database, baseUrlOf(config.host, config.port))
  await database.close()
}

/** Each worker would share the port with whoever else does so: whether it is free shows only now. */
function checkPort({ host, port }: Config): void {
  if (port === 0) throw new ConfigError(['PORT must be a port when WORKERS is more than 1. Example: PORT=3000'])
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
  } catch (error) {
    throw portUnavailable(host, port, error)
  }
}

function createTeam(config: Config, log: Log) {
  const running = new Set<Subprocess>()
  let stopping = false

  /** `serving` resolves to whether the worker got to serve. */
  function spawnWorker() {
    const { promise: serving, resolve: noteServing } = Promise.withResolvers<boolean>()
    const child = Bun.spawn([process.execPath, SERVER, '--worker'], {
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      // Also how a worker learns that its supervisor has gone.
      ipc: message => {
        if (pulse.hear(message)) noteServing(true)
      },
    })
    const pulse = watchPulse(() => {
      log.error({ pid: child.pid }, 'a worker has fallen silent; it is ended')
      child.kill('SIGKILL')
    })
    running.add(child)
    const ended = child.exited.then(code => {
      pulse.stop()
      running.delete(child)
      noteServing(false)
      return code
    })
    return { pid: child.pid, serving, ended }
  }

  /** Keeps one place of the team filled; rejects when its first worker does not get to serve. */
  async function fillPlace(): Promise<void> {
    const first = spawnWorker()
    if (!(await first.serving)) throw new Error(`a worker ended with code ${await first.ended} before it served`)
    refill(first)
  }

  async function refill(worker: ReturnType<typeof spawnWorker>): Promise<void> {
    let current = worker
    for (let pauseMs = LEAST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)) {
      if (await current.serving) pauseMs = LEAST_PAUSE_MS
      const code = await current.ended
      if (stopping) return
      log.error({ pid: current.pid, code, pauseMs }, 'a worker ended; another takes its place')
      await log.flush()
      await Bun.sleep(pauseMs)
      if (stopping) return
      current = spawnWorker()
    }
  }

  function signalAll(signal: NodeJS.Signals): Promise<number[]> {
    for (const child of running) child.kill(signal)
    // One that did not serve yet has no handler, and nothing to finish: the signal ends it.
    return Promise.all(
      Array.from(running, child => child.exited.then(code => (child.signalCode === 'SIGTERM' ? 0 : code))),
    )
  }

  async function end(): Promise<number> {
    const killing = setTimeout(() => signalAll('SIGKILL'), config.shutdownTimeoutMs + KILL_SLACK_MS)
    const codes = await signalAll('SIGTERM')
    clearTimeout(killing)
    return Math.max(0, ...codes)
  }

  return {
    async start() {
      try {
        await Promise.all(Array.from({ length: config.workers }, fillPlace))
      } catch (error) {
        stopping = true
        await end()
        throw error
      }
    },
    /** Passes a signal on, each time; the process ends when the last worker has. */
    stop() {
      const again = stopping
      stopping = true
      if (again) signalAll('SIGTERM')
      else end().then(code => process.exit(code))
    },
  }
}

/** Several serving processes on one port: starts them, restarts what crashes, passes signals on. */
import { fileURLToPath } from 'node:url'
import type { Subprocess } from 'bun'
import type { Config } from './config.ts'
import { migrate } from './postgres/migrate.ts'
import { openDatabase } from './run-server.ts'
import { createLog } from './telemetry/log.ts'
import { welcome } from './welcome.ts'

const RESTART_AFTER_MS = 500
const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))

/** Resolves when all workers have been started; the process ends when they have. */
export async function superviseWorkers(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const database = await openDatabase(config)
  await migrate(database)
  await welcome(config, database, `http://${config.host}:${config.port}/v1`)
  await database.close()

  const workers = new Set<Subprocess>()
  let stopping = false

  function start(): void {
    const worker = Bun.spawn([process.execPath, SERVER, '--worker'], {
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      async onExit(ended, code) {
        workers.delete(ended)
        if (stopping) {
          if (workers.size === 0) process.exit(0)
          return
        }
        log.error({ pid: ended.pid, code }, 'a worker ended; starting another')
        await log.flush()
        await Bun.sleep(RESTART_AFTER_MS)
        if (!stopping) start()
      },
    })
    workers.add(worker)
  }

  function stop(signal: NodeJS.Signals): void {
    stopping = true
    for (const worker of workers) worker.kill(signal)
    if (workers.size === 0) process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  for (let i = 0; i < config.workers; i++) start()
}

/** Entry: configuration, stores, application, listening, draining. */
import { ConfigError, readConfig } from '../config.ts'

try {
  const isWorker = readArguments(process.argv.slice(2))
  const config = readConfig()
  // Each loads what it needs: a supervisor has no use for the application, and a wrong setting is told at once.
  if (config.workers > 1 && !isWorker) await (await import('./supervise-workers.ts')).superviseWorkers(config)
  else await (await import('./run-server.ts')).runServer(config, { isWorker })
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : explainStart(error)}\n`)
  process.exit(1)
}

/** Whether this is a worker of a supervisor's: nobody else has anything to say here. Never quoted: somebody may have tried a key. */
function readArguments(given: readonly string[]): boolean {
  if (given.length === 0) return false
  if (given.length === 1 && given[0] === '--worker') return true
  throw new ConfigError([
    'The server takes no arguments; .env.example lists its environment variables. Example: PORT=8080',
  ])
}

/** The error and what caused it, one line each; a stack helps nobody who only set a variable wrong. */
function explainStart(error: unknown): string {
  const lines: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause) lines.push(at.message || at.name)
  return `Cannot start: ${lines.join('\n  because: ') || String(error)}`
}

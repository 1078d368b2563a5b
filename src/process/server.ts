/** Entry point: reads the configuration, and starts a server or a supervisor of workers. */
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

/** Returns whether this is a supervisor's worker; there are no other arguments. Never quotes them, because one may be a key. */
function readArguments(given: readonly string[]): boolean {
  if (given.length === 0) return false
  if (given.length === 1 && given[0] === '--worker') return true
  throw new ConfigError([
    'The server takes no arguments; .env.example lists its environment variables. Example: PORT=8080',
  ])
}

/** The error and its causes, one line each. A stack does not help with a wrong setting. */
function explainStart(error: unknown): string {
  const lines: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause) lines.push(at.message || at.name)
  return `Cannot start: ${lines.join('\n  because: ') || String(error)}`
}

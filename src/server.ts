/** Entry: configuration, stores, application, listening, draining. */
import { ConfigError, readConfig } from './config.ts'
import { runServer } from './run-server.ts'
import { superviseWorkers } from './supervise-workers.ts'

try {
  const config = readConfig()
  if (config.workers > 1 && !process.argv.includes('--worker')) await superviseWorkers(config)
  else await runServer(config, { isWorker: process.argv.includes('--worker') })
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : explainStart(error)}\n`)
  process.exit(1)
}

/** The error and what caused it, one line each; a stack helps nobody who only set a variable wrong. */
function explainStart(error: unknown): string {
  const lines: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause) lines.push(at.message || at.name)
  return `Cannot start: ${lines.join('\n  because: ') || String(error)}`
}

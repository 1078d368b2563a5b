/** Structured logs: one JSON line per event, written in groups so that a busy proxy does not wait for its terminal. */
import pino from 'pino'
import type { LogLevel } from '../config.ts'

export type Log = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error'> & {
  /** The line of one finished request, at level info; `describe` is called when it is written. */
  request(describe: () => RequestFields): void
  /** Resolves when everything logged has been written. */
  flush(): Promise<void>
}

/** What is undefined is not written. */
type RequestFields = Record<string, string | number | boolean | null | undefined>

const FLUSH_EVERY_MS = 100
const LUMP_LINES = 500

/** Logs to standard output. Never log a prompt, a response, a key or a secret: log their sizes, prefixes and ids. */
export function createLog(level: LogLevel): Log {
  const output = Bun.stdout.writer()
  let lines: (string | (() => RequestFields))[] = []

  async function flush(): Promise<void> {
    if (lines.length === 0) return
    const written = lines
    lines = []
    try {
      output.write(written.map(line => (typeof line === 'string' ? line : `${JSON.stringify(line())}\n`)).join(''))
      await output.flush()
    } catch {
      // Whoever read it is gone, or the disk is full: lines are lost, and requests go on.
    }
  }
  function collect(line: string | (() => RequestFields)): void {
    lines.push(line)
    // Soon, but not during a request.
    if (lines.length === LUMP_LINES) setImmediate(flush)
  }
  setInterval(flush, FLUSH_EVERY_MS).unref()
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write: collect })
  return Object.assign(logger, {
    flush,
    // Queued, because formatting the line during the request, or through pino, costs a tenth or more of a cache hit.
    request(describe: () => RequestFields) {
      if (logger.isLevelEnabled('info')) collect(describe)
    },
  })
}

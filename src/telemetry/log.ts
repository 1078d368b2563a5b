/** Structured logs: one JSON line per event, written in groups so that a busy proxy does not wait for its terminal. */
import type { LogLevel } from '../config/config.ts'
import { nowIso } from '../event-loop/clock.ts'
import { FailureReporter } from './failure-reporter.ts'
import { createLogDeduplicator } from './log-deduplicator.ts'

export interface Log extends Lines {
  /** Where work that fails unheard by any client is reported, in place of `warn` and `error`. */
  readonly failures: FailureReporter
  /** The line of one finished request, at level info; `describe` is called when it is written. */
  request(describe: () => RequestFields): void
  /** Resolves when everything logged has been written. */
  flush(): Promise<void>
}

/** As pino, Bunyan and their readers number them. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50, silent: Number.POSITIVE_INFINITY } as const

type Lines = Record<Exclude<LogLevel, 'silent'>, (fields: object, message: string) => void>

/** Methods that write one line each; below the level they do nothing. */
export function createLevelMethods(level: LogLevel, write: (line: string) => void): Lines {
  const at = (name: keyof Lines) => (fields: object, msg: string) => {
    if (LEVELS[name] < LEVELS[level]) return
    write(`${JSON.stringify({ level: LEVELS[name], time: nowIso(), ...fields, msg })}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** What is undefined is not written. */
type RequestFields = Record<string, string | number | boolean | null | undefined>

const FLUSH_EVERY_MS = 100
const LUMP_LINES = 500

/** Warnings and errors of one kind are told once, then counted: an outage must not fill the disk. */
function countRepeats(lines: Lines) {
  const repeated = createLogDeduplicator()
  const told = (name: 'warn' | 'error') => (fields: object, message: string) =>
    repeated.write(`${name} ${message} ${kindOf(fields)}`, message, repeats =>
      lines[name](repeats === 0 ? fields : { ...fields, repeats }, message),
    )
  return { lines: { ...lines, warn: told('warn'), error: told('error') }, tellRepeats: repeated.flush }
}

/** Two lines with a message are of one kind if they differ in a request's id and in figures alone. */
function kindOf(fields: object): string {
  return JSON.stringify(fields, (name, value) => (name === 'id' || typeof value === 'number' ? undefined : value))
}

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
  const { lines: written, tellRepeats } = countRepeats(createLevelMethods(level, collect))
  return {
    ...written,
    failures: new FailureReporter(written.error),
    flush() {
      tellRepeats()
      return flush()
    },
    // Queued, because formatting the line during the request costs a tenth or more of a cache hit.
    request(describe: () => RequestFields) {
      if (LEVELS[level] <= LEVELS.info) collect(describe)
    },
  }
}

/** Structured logs: one JSON line per event, written in groups so that a busy proxy does not wait for its terminal. */
import type { LogLevel } from '../config/config.ts'
import { nowIso } from '../event-loop/clock.ts'
import { FailureReporter } from './failure-reporter.ts'
import { createLogDeduplicator } from './log-deduplicator.ts'

export interface Log extends Lines {
  /** Reports failures of work that no client is waiting for. Use it in place of `warn` and `error` for those. */
  readonly failures: FailureReporter
  /** Logs the line of one finished request at level info. `describe` is called when the line is written. */
  request(describe: () => RequestFields): void
  /** Resolves when everything logged has been written. */
  flush(): Promise<void>
}

/** The numbers that pino, Bunyan and their readers use. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50, silent: Number.POSITIVE_INFINITY } as const

type Lines = Record<Exclude<LogLevel, 'silent'>, (fields: object, message: string) => void>

/** Returns methods that write one line each. A method below the level does nothing. */
export function createLevelMethods(level: LogLevel, write: (line: string) => void): Lines {
  const at = (name: keyof Lines) => (fields: object, msg: string) => {
    if (LEVELS[name] < LEVELS[level]) return
    write(`${JSON.stringify({ level: LEVELS[name], time: nowIso(), ...fields, msg })}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** The fields of a request's line. Undefined fields are omitted. */
type RequestFields = Record<string, string | number | boolean | null | undefined>

const FLUSH_EVERY_MS = 100
/** The number of lines after which they are flushed without waiting for the timer. */
const FLUSH_LINES = 500

/** Writes warnings and errors of one kind once, and then counts them, so that an outage does not fill the disk. */
function deduplicate(lines: Lines) {
  const deduplicator = createLogDeduplicator()
  const deduplicated = (name: 'warn' | 'error') => (fields: object, message: string) =>
    deduplicator.write(`${name} ${message} ${kindOf(fields)}`, message, repeats =>
      lines[name](repeats === 0 ? fields : { ...fields, repeats }, message),
    )
  return {
    lines: { ...lines, warn: deduplicated('warn'), error: deduplicated('error') },
    flushRepeats: deduplicator.flush,
  }
}

/** Returns a key for lines with the same message that differ only in the request's id and in numbers. */
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
      // The reader of the output is gone, or the disk is full. Lines are lost, and requests continue.
    }
  }
  function collect(line: string | (() => RequestFields)): void {
    lines.push(line)
    // setImmediate flushes soon, but not during a request.
    if (lines.length === FLUSH_LINES) setImmediate(flush)
  }
  setInterval(flush, FLUSH_EVERY_MS).unref()
  const { lines: methods, flushRepeats } = deduplicate(createLevelMethods(level, collect))
  return {
    ...methods,
    failures: new FailureReporter(methods.error),
    flush() {
      flushRepeats()
      return flush()
    },
    // The line is queued, because formatting it during the request would take a tenth or more of the time of a cache hit.
    request(describe: () => RequestFields) {
      if (LEVELS[level] <= LEVELS.info) collect(describe)
    },
  }
}

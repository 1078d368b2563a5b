/** A log that stores its lines, of all levels, for tests of what a log must not contain. */
import { FailureReporter } from '../../../src/telemetry/failure-reporter.ts'
import { createLevelMethods, type Log } from '../../../src/telemetry/log.ts'

export interface MemoryLog extends Log {
  /** Returns the lines written since the last call. */
  take(): string[]
}

export function createMemoryLog(): MemoryLog {
  let lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const written = createLevelMethods('debug', write)
  return Object.assign(written, {
    failures: new FailureReporter(written.error),
    request: (describe: Parameters<Log['request']>[0]) => write(JSON.stringify(describe())),
    flush: async () => {},
    take() {
      const taken = lines
      lines = []
      return taken
    },
  })
}

/** A log that keeps its lines, down to the least important, for tests that look for what must not be in them. */
import { FailureReporter } from '../../../src/telemetry/failure-reporter.ts'
import { createLevelMethods, type Log } from '../../../src/telemetry/log.ts'

export interface MemoryLog extends Log {
  /** Takes all lines that were written since the last time. */
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

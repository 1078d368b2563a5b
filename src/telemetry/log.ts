/** Structured logs: one JSON line an event, written in lumps so that a busy proxy does not wait for its terminal. */
import pino from 'pino'
import type { LogLevel } from '../config.ts'

export type Log = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error'> & {
  /** Resolves when what was logged has been written. */
  flush(): Promise<void>
}

const FLUSH_EVERY_MS = 100
const LUMP_BYTES = 65_536

/** Logs to standard output. Never log a prompt, an answer, a key or a secret: log their sizes, prefixes and ids. */
export function createLog(level: LogLevel): Log {
  const output = Bun.stdout.writer({ highWaterMark: LUMP_BYTES })
  const lines = {
    write(line: string) {
      output.write(line)
    },
  }
  const flush = async () => {
    await output.flush()
  }
  setInterval(flush, FLUSH_EVERY_MS).unref()
  return Object.assign(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines), { flush })
}

/** Readers of settings with a specific format: names, keys, ports or switches, the number of workers. */
import { availableParallelism } from 'node:os'
import type { ValueReaders } from './value-readers.ts'

/** Matches schema names that need no quotation marks in SQL and are not reserved by PostgreSQL. */
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/

export function createFormattedValueReaders({ text, optionalText, integer, problem }: ValueReaders) {
  function workers(name: string, canShare: boolean): number {
    const value = optionalText(name)
    if (value === 'auto') return canShare ? availableParallelism() : 1
    const count = integer(name, 1, 1, 256)
    if (count > 1 && !canShare) {
      problem(name, '1 unless DATABASE_URL and REDIS_URL are set: embedded stores live in one process', 1)
    }
    return count
  }

  function name(name: string, fallback: string): string {
    const value = text(name, fallback)
    if (/^[a-z0-9][a-z0-9._-]{0,62}$/.test(value)) return value
    problem(name, 'lowercase letters, digits, dots, dashes or underscores', fallback)
    return fallback
  }

  function schema(name: string, fallback: string): string {
    const value = text(name, fallback)
    if (SCHEMA_NAME.test(value)) return value
    problem(name, 'lowercase letters, digits and underscores, and not begin with a digit or pg_', fallback)
    return fallback
  }

  function switchOrPort(name: string, fallback: 'on' | 'off'): 'on' | 'off' | number {
    const value = text(name, fallback)
    if (value === 'on' || value === 'off') return value
    const port = Number(value)
    if (/^\d+$/.test(value) && port >= 1 && port <= 65_535) return port
    problem(name, 'on, off, or a port from 1 to 65535', fallback)
    return fallback
  }

  function key(name: string): Uint8Array | null {
    const value = optionalText(name)
    if (value === null) return null
    const bytes = Buffer.from(value, 'base64')
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(value) && bytes.length === 32) return bytes
    problem(name, '32 bytes in base64, as `openssl rand -base64 32` prints', '<44 characters>')
    return null
  }

  return { workers, name, schema, switchOrPort, key }
}

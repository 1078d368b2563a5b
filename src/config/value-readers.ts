/** Readers of settings by the kind of value. An invalid value is recorded as a problem, and the default is used. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export type Environment = Readonly<Record<string, string | undefined>>

export type ValueReaders = ReturnType<typeof createValueReaders>

/** Creates readers of text, numbers and choices. They add each problem to `problems` and continue, so that one start reports all problems. */
export function createValueReaders(environment: Environment, problems: string[]) {
  const files = new Map<string, string | null>()
  /** Returns a setting, or the content of the file that NAME_FILE names, for example a mounted secret; null when neither is set. */
  const optionalText = (name: string): string | null => {
    const value = environment[name]?.trim()
    const file = environment[`${name}_FILE`]?.trim()
    if (!file) return value ? value : null
    if (!files.has(name)) files.set(name, value ? reportBothSet(name) : fileText(`${name}_FILE`))
    return files.get(name) ?? null
  }
  const reportBothSet = (name: string): null => {
    problems.push(
      `${name} must not be set together with ${name}_FILE: both are set, remove one. Example: ${name}_FILE=/run/secrets/value`,
    )
    return null
  }
  /** Returns the content of the file that a setting names; null when the setting is not set or the file is a problem. */
  const fileText = (name: string): string | null => {
    const path = environment[name]?.trim()
    if (!path) return null
    try {
      const content = readFileSync(path, 'utf8').trim()
      if (content !== '') return content
    } catch {}
    problem(name, `a file that this user can read, and that is not empty; ${path} is not`, '/run/secrets/value')
    return null
  }
  const text = (name: string, fallback: string): string => optionalText(name) ?? fallback
  const problem = (name: string, must: string, example: string | number): void => {
    problems.push(`${name} must be ${must}. Example: ${name}=${example}`)
  }

  function integer(name: string, fallback: number, min: number, max: number): number {
    const value = optionalText(name)
    if (value === null) return fallback
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= min && number <= max) return number
    problem(name, `a whole number from ${min} to ${max}`, fallback)
    return fallback
  }

  function optionalInteger(name: string, min: number, max: number, example: number): number | null {
    if (optionalText(name) === null) return null
    const problemsBefore = problems.length
    const number = integer(name, Math.max(min, example), min, max)
    return problems.length > problemsBefore ? null : number
  }

  function choice<T extends string>(name: string, fallback: T, choices: readonly T[]): T {
    const value = text(name, fallback)
    const chosen = choices.find(choice => choice === value)
    if (chosen !== undefined) return chosen
    problem(name, `one of ${choices.join(', ')}`, fallback)
    return fallback
  }

  return { text, optionalText, fileText, integer, optionalInteger, choice, problem }
}

/** Matches schema names that need no quotation marks in SQL and are not reserved by PostgreSQL. */
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/

/** Creates readers of settings with a specific format: names, keys, ports or switches, the number of workers. */
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

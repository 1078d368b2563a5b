/** Readers of simple settings: text, numbers, choices. An invalid value is recorded as a problem, and the default is used. */
import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

export type ValueReaders = ReturnType<typeof createValueReaders>

/** Creates readers that add each problem to `problems` and continue, so that one start reports all problems. */
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

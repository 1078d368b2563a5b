/** Readers of simple settings: text, numbers, choices. A bad value is noted as a problem, and the default is used. */
import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

export type ValueReaders = ReturnType<typeof createValueReaders>

/** Readers note a problem and go on, so that one start reports all of them. */
export function createValueReaders(environment: Environment, problems: string[]) {
  const files = new Map<string, string | null>()
  /** A setting, or the content of the file that NAME_FILE names, as secrets are mounted. */
  const optionalText = (name: string): string | null => {
    const value = environment[name]?.trim()
    const file = environment[`${name}_FILE`]?.trim()
    if (!file) return value ? value : null
    if (!files.has(name)) files.set(name, value ? bothSet(name) : fileText(`${name}_FILE`))
    return files.get(name) ?? null
  }
  const bothSet = (name: string): null => {
    problems.push(`${name} must be set alone, or ${name}_FILE: both are set. Example: ${name}_FILE=/run/secrets/value`)
    return null
  }
  /** The content of the file that a setting names; null where it is not set, or noted as a problem. */
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

  function integer(name: string, fallback: number, least: number, most: number): number {
    const value = optionalText(name)
    if (value === null) return fallback
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return number
    problem(name, `a whole number from ${least} to ${most}`, fallback)
    return fallback
  }

  function optionalInteger(name: string, least: number, most: number, example: number): number | null {
    if (optionalText(name) === null) return null
    const before = problems.length
    const number = integer(name, Math.max(least, example), least, most)
    return problems.length > before ? null : number
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

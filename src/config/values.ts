/** Readers of simple settings: text, numbers, choices. A bad value is noted as a problem, and the default is used. */

export type Environment = Readonly<Record<string, string | undefined>>

export type Values = ReturnType<typeof createValues>

/** Readers note a problem and go on, so that one start reports all of them. */
export function createValues(environment: Environment, problems: string[]) {
  const optionalText = (name: string): string | null => {
    const value = environment[name]?.trim()
    return value ? value : null
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

  return { text, optionalText, integer, optionalInteger, choice, problem }
}

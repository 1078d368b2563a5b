/** Problems that make a PostgreSQL server unusable, each with a remedy for the operator. */

export interface SetupProblem {
  cause: string
  /** A sentence. It introduces `commands`, if there are any. */
  remedy: string
  /** SQL for psql, one statement per line. */
  commands?: readonly string[]
}

export class DatabaseSetupError extends Error {
  override name = 'DatabaseSetupError'

  constructor(readonly problems: readonly SetupProblem[]) {
    super(problems.map(describe).join('\n  '))
  }
}

export function throwSetupProblems(problems: readonly SetupProblem[]): void {
  if (problems.length > 0) throw new DatabaseSetupError(problems)
}

function describe({ cause, remedy, commands = [] }: SetupProblem): string {
  return [`${cause}. ${remedy}`, ...commands.map(line => `    ${line}`)].join('\n')
}

/** Appends a suffix to a name, inside its quotation marks if it has them. */
export const addSuffix = (name: string, suffix: string) =>
  name.endsWith('"') ? `${name.slice(0, -1)}${suffix}"` : `${name}${suffix}`

export const quoteIdentifier = (name: string) =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

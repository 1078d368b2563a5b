/** Why a PostgreSQL cannot be used, and what the operator runs so that it can. */

export interface SetupProblem {
  cause: string
  /** A sentence; it introduces the lines of `run`, where there are any. */
  remedy: string
  /** SQL for psql, a statement a line. */
  commands?: readonly string[]
}

export class DatabaseSetupError extends Error {
  override name = 'DatabaseRefused'

  constructor(
    readonly refusals: readonly SetupProblem[],
    cause?: unknown,
  ) {
    super(refusals.map(describe).join('\n  '), cause === undefined ? {} : { cause })
  }
}

export function throwSetupProblems(refusals: readonly SetupProblem[]): void {
  if (refusals.length > 0) throw new DatabaseSetupError(refusals)
}

function describe({ cause, remedy, commands = [] }: SetupProblem): string {
  return [`${cause}. ${remedy}`, ...commands.map(line => `    ${line}`)].join('\n')
}

export const quoteIdentifier = (name: string) =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

/** Why a PostgreSQL cannot be used, and what the operator runs so that it can. */

export interface Refusal {
  cause: string
  /** A sentence; it introduces the lines of `run`, where there are any. */
  remedy: string
  /** SQL for psql, a statement a line. */
  run?: readonly string[]
}

export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'

  constructor(
    readonly refusals: readonly Refusal[],
    cause?: unknown,
  ) {
    super(refusals.map(describe).join('\n  '), cause === undefined ? {} : { cause })
  }
}

export function throwRefusals(refusals: readonly Refusal[]): void {
  if (refusals.length > 0) throw new DatabaseRefused(refusals)
}

function describe({ cause, remedy, run = [] }: Refusal): string {
  return [`${cause}. ${remedy}`, ...run.map(line => `    ${line}`)].join('\n')
}

export const quoteName = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`)

/** Owns the bound on the work one schema may cause, and the errors that end that work. */

/** A schema that cannot be served: malformed, unsupported or unsatisfiable. The message is for the client. */
export class SchemaError extends Error {}

/** The schema asks for more than the budget allows; a smaller instance may still exist. */
export class BudgetSpentError extends SchemaError {}

export interface Budget {
  /** Takes steps off what is left, a few microseconds each; throws `BudgetSpentError` when nothing is. */
  spend(steps: number): void
}

export function createBudget(steps: number): Budget {
  let left = steps
  return {
    spend(cost) {
      left -= Math.max(0, cost)
      if (!(left >= 0))
        throw new BudgetSpentError('asks for an instance too large or too deeply nested for the sandbox')
    },
  }
}

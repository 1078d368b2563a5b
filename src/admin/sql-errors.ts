/** Which HTTP error a SQL function's refusal is: the functions raise, in one line for people, and this table says what kind it was. */
import { invalidRequest, type ProxyError, refuse } from '../errors.ts'
import { isUnheldText, sqlStateOf } from '../postgres/database.ts'

/** By SQLSTATE. Messages of these are the functions' own, and safe to show. */
const REFUSALS: Record<string, (problem: string) => ProxyError> = {
  // no_data_found
  P0002: problem => refuse('nothingThere', { problem }),
  // insufficient_privilege
  '42501': problem => refuse('notPermitted', { problem }),
  // invalid_parameter_value
  '22023': problem => invalidRequest(problem),
  // unique_violation
  '23505': problem => refuse('alreadyExists', { problem }),
  // object_not_in_prerequisite_state
  '55000': problem => refuse('notPossible', { problem }),
}

/** Classes of states that pass by themselves: connections, resources, a turn that did not come. */
const PASSING = /^(08|53|57|55P)/

/** Null where the error is nothing that the client should hear of. */
export function refusalOf(error: unknown): ProxyError | null {
  const state = sqlStateOf(error)
  if (state === null || !(error instanceof Error)) return null
  if (isUnheldText(error)) return refuse('unheldText')
  const refusal = REFUSALS[state]
  if (refusal) return refusal(sentence(error.message))
  return PASSING.test(state) ? refuse('databaseUnavailable', null, error) : null
}

function sentence(message: string): string {
  // An id stays as it is written.
  const begun = /^[a-z]+_/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?`]$/.test(begun) ? begun : `${begun}.`
}

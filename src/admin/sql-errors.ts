/** Maps an error that a SQL function raised to an HTTP error, by its SQLSTATE. */
import { invalidRequest, type ProxyError, refuse } from '../errors/errors.ts'
import { isMissingRight, isTooLong, isUnavailable, isUnstorableText, sqlStateOf } from '../postgres/database.ts'

/** By SQLSTATE. The SQL functions write these messages for people, so they are safe to show. */
const REFUSALS: Record<string, (problem: string) => ProxyError> = {
  // no_data_found
  P0002: problem => refuse('nothingThere', { problem }),
  // insufficient_privilege
  '42501': problem => refuse('notPermitted', { problem }),
  // invalid_parameter_value
  '22023': problem => invalidRequest(problem),
  // check_violation: the functions say more, before it comes to that
  '23514': problem => invalidRequest(problem),
  // unique_violation
  '23505': problem => refuse('alreadyExists', { problem }),
  // object_not_in_prerequisite_state
  '55000': problem => refuse('notPossible', { problem }),
}

/** Returns null when the client should not see the error. */
export function refusalOf(error: unknown): ProxyError | null {
  if (isTooLong(error)) return refuse('queryTooLong', null, error)
  if (isUnavailable(error)) return refuse('databaseUnavailable', null, error)
  const state = sqlStateOf(error)
  if (state === null || !(error instanceof Error) || isMissingRight(error)) return null
  if (isUnstorableText(error)) return refuse('unstorableText')
  return REFUSALS[state]?.(sentence(error.message)) ?? null
}

function sentence(message: string): string {
  // A message that begins with an id keeps its lower case.
  const begun = /^[a-z]+_/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?`]$/.test(begun) ? begun : `${begun}.`
}

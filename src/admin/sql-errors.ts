/** Maps an error that a SQL function raised to an HTTP error, by its SQLSTATE. */
import { createError, invalidRequestError, type ProxyError } from '../errors/errors.ts'
import {
  isDatabaseUnavailable,
  isNulCharacterError,
  isPermissionDenied,
  isStatementTimeout,
  sqlStateOf,
} from '../postgres/database.ts'

/** By SQLSTATE. The SQL functions write these messages for people, so they are safe to show. */
const REFUSALS: Record<string, (problem: string) => ProxyError> = {
  // no_data_found
  P0002: problem => createError('notFound', { problem }),
  // insufficient_privilege
  '42501': problem => createError('notPermitted', { problem }),
  // invalid_parameter_value
  '22023': problem => invalidRequestError(problem),
  // check_violation: the functions say more, before it comes to that
  '23514': problem => invalidRequestError(problem),
  // unique_violation
  '23505': problem => createError('alreadyExists', { problem }),
  // object_not_in_prerequisite_state
  '55000': problem => createError('notPossible', { problem }),
}

/** Returns null when the client should not see the error. */
export function toClientError(error: unknown): ProxyError | null {
  if (isStatementTimeout(error)) return createError('queryTooLong', null, error)
  if (isDatabaseUnavailable(error)) return createError('databaseUnavailable', null, error)
  const state = sqlStateOf(error)
  if (state === null || !(error instanceof Error) || isPermissionDenied(error)) return null
  if (isNulCharacterError(error)) return createError('nullCharacter')
  return REFUSALS[state]?.(sentence(error.message)) ?? null
}

function sentence(message: string): string {
  // A message that begins with an id keeps its lower case.
  const begun = /^[a-z]+_/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?`]$/.test(begun) ? begun : `${begun}.`
}

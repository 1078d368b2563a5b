/** Converts errors of SQL functions to HTTP errors by their SQLSTATE. */
import { createError, invalidRequestError, type ProxyError } from '../errors/errors.ts'
import {
  isDatabaseUnavailable,
  isNulCharacterError,
  isPermissionDenied,
  isStatementTimeout,
  sqlStateOf,
} from '../postgres/database.ts'

/** HTTP errors by SQLSTATE. SQL functions write these messages for clients, so they are safe to return. */
const CLIENT_ERRORS: Record<string, (problem: string) => ProxyError> = {
  // no_data_found
  P0002: problem => createError('notFound', { problem }),
  // insufficient_privilege
  '42501': problem => createError('notPermitted', { problem }),
  // invalid_parameter_value
  '22023': problem => invalidRequestError(problem),
  // check_violation; functions raise clearer errors before a constraint does
  '23514': problem => invalidRequestError(problem),
  // unique_violation
  '23505': problem => createError('alreadyExists', { problem }),
  // object_not_in_prerequisite_state
  '55000': problem => createError('notPossible', { problem }),
}

/** Converts an error. Returns null if clients must not see it. */
export function toClientError(error: unknown): ProxyError | null {
  if (isStatementTimeout(error)) return createError('queryTooLong', null, error)
  if (isDatabaseUnavailable(error)) return createError('databaseUnavailable', null, error)
  const state = sqlStateOf(error)
  if (state === null || !(error instanceof Error) || isPermissionDenied(error)) return null
  if (isNulCharacterError(error)) return createError('nullCharacter')
  return CLIENT_ERRORS[state]?.(formatSentence(error.message)) ?? null
}

function formatSentence(message: string): string {
  // A message that begins with an id keeps its lower case.
  const capitalized = /^[a-z]+_/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?`]$/.test(capitalized) ? capitalized : `${capitalized}.`
}
